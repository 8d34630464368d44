import { join } from "node:path";
import { type BranchName, toBranchName, toWorktreePath, type WorktreePath } from "../git/names.ts";

/** Every run's branch is below this folder of branches. */
export const SCRATCH_PREFIX = "ultrathink";

export function scratchBranch(slug: string): BranchName {
  return toBranchName(`${SCRATCH_PREFIX}/${slug}`);
}

/**
 * The folder for runs' worktrees: beside the main worktree, never inside, where linters, test runners and
 * `git add` would pick them up.
 */
export function runWorktreeFolder(mainWorktree: string): string {
  return `${mainWorktree}.worktrees`;
}

export function runWorktreePath(mainWorktree: string, slug: string): WorktreePath {
  return toWorktreePath(join(runWorktreeFolder(mainWorktree), slug));
}

const LOCK_PREFIX = "ultrathink run ";

/** Why a run's worktree is locked: git shows it, and it tells other tools whose the worktree is. */
export function runLockReason(id: string, slug: string): string {
  return `${LOCK_PREFIX}${id} (${slug})`;
}

/** Id of the run that locked a worktree for itself. */
export function owningRun({ locked }: { readonly locked: string | undefined }): string | undefined {
  return locked?.startsWith(LOCK_PREFIX) ? locked.slice(LOCK_PREFIX.length).split(" ", 1)[0] : undefined;
}
