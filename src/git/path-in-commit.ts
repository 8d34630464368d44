import type { Git } from "./git.ts";
import type { Oid } from "./names.ts";

/** Whether `commit` has a file or folder at `path`, relative to its top. */
export async function pathInCommit(git: Git, commit: Oid, path: string): Promise<boolean> {
  const output = await git(["cat-file", "-e", `${commit}:${path}`], { okCodes: [0, 1, 128] });
  return output.code === 0;
}
