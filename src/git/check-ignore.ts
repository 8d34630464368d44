import type { Git } from "./git.ts";

/** Whether the user's ignore rules cover `path`, relative to the top of the worktree. */
export async function isIgnored(git: Git, path: string): Promise<boolean> {
  const output = await git(["check-ignore", "--quiet", "--no-index", "--", path], { okCodes: [0, 1] });
  return output.code === 0;
}
