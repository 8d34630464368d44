import type { Git } from "./git.ts";

/** Bytes of all files in `commit` as git stores them: about what a checkout of it takes. */
export async function treeBytes(git: Git, commit: string): Promise<number> {
  const output = await git(["ls-tree", "-r", "-l", "-z", "--full-tree", commit]);
  return output.records().reduce((sum, record) => {
    const size = /^\d{6} blob [0-9a-f]+ +(\d+)\t/.exec(record)?.[1];
    return sum + Number(size ?? 0);
  }, 0);
}
