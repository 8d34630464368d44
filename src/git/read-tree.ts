import type { Git } from "./git.ts";
import type { Oid } from "./names.ts";

/**
 * Brings index and files of a worktree from commit `from` to commit `to`, keeping what the user staged or
 * edited elsewhere; git-read-tree(1), "Two Tree Merge".
 *
 * The index must be fresh: `read-tree` takes an entry whose stat data is old for a modified file. Ignored files
 * are overwritten without a word, so the caller looks for them first.
 *
 * @throws {GitError} when a file in the way is modified or untracked, or cannot be written.
 */
export async function readTree(git: Git, from: Oid, to: Oid, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await git(["read-tree", "-m", "-u", "--no-recurse-submodules", from, to], { env });
}

/** Brings the index' stat data up to date. What is modified stays so. */
export async function refreshIndex(git: Git, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await git(["update-index", "-q", "--refresh"], { okCodes: [0, 1], env });
}
