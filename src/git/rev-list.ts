import type { Git } from "./git.ts";
import type { Oid } from "./names.ts";

export interface CommitCounts {
  readonly commits: number;
  /** Those with more than one parent. */
  readonly merges: number;
}

/** Commits reachable from `to` and not from `from`. */
export async function commitCounts(git: Git, from: Oid, to: Oid): Promise<CommitCounts> {
  const output = await git(["rev-list", "--parents", to, `^${from}`, "--"]);
  const lines = output.text().split("\n").slice(0, -1);
  return { commits: lines.length, merges: lines.filter((line) => line.split(" ").length > 2).length };
}
