import { join } from "node:path";
import { type BranchName, toBranchName, toWorktreePath, type WorktreePath } from "../git/names.ts";

/** Every run's branch is below this folder of branches. */
export const SCRATCH_PREFIX = "ultrathink";

export function scratchBranch(slug: string): BranchName {
  return toBranchName(`${SCRATCH_PREFIX}/${slug}`);
}

/**
 * Where a run's worktree goes: beside the main worktree, never inside, where linters, test runners and
 * `git add` would pick it up.
 */
export function runWorktreePath(mainWorktree: string, slug: string): WorktreePath {
  return toWorktreePath(join(`${mainWorktree}.worktrees`, slug));
}
