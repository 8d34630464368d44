import type { Git } from "./git.ts";
import type { Oid } from "./names.ts";

/** Those of `commits` that the object database does not have. */
export async function missingCommits(git: Git, commits: readonly Oid[]): Promise<Oid[]> {
  if (commits.length === 0) return [];
  const stdin = commits.map((commit) => `${commit}^{commit}\n`).join("");
  const lines = (await git(["cat-file", "--batch-check=%(objectname)"], { stdin })).text().split("\n");
  return commits.filter((_, index) => lines[index]?.endsWith(" missing") !== false);
}
