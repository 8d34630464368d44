import type { Git } from "./git.ts";
import type { BranchName, Oid, WorktreePath } from "./names.ts";

/** What the new worktree checks out. */
export type WorktreeCheckout =
  | { readonly kind: "new-branch"; readonly branch: BranchName; readonly start: Oid }
  | { readonly kind: "branch"; readonly branch: BranchName }
  | { readonly kind: "detached"; readonly commit: Oid };

/**
 * `git worktree add`. A failure may leave the branch and part of the directory: the caller rolls back.
 *
 * @param lockReason locks the worktree from birth, so that no `prune` or `remove` of somebody else takes it.
 */
export async function addWorktree(
  git: Git,
  path: WorktreePath,
  checkout: WorktreeCheckout,
  lockReason?: string,
): Promise<void> {
  const lock = lockReason === undefined ? [] : ["--lock", `--reason=${lockReason}`];
  const common = ["worktree", "add", "--quiet", "--no-track", ...lock];
  switch (checkout.kind) {
    case "new-branch":
      await git([...common, "-b", checkout.branch, "--", path, checkout.start]);
      break;
    case "branch":
      // git takes the argument for a branch only when it is the short name.
      await git(["worktree", "add", "--quiet", ...lock, "--", path, checkout.branch]);
      break;
    case "detached":
      await git(["worktree", "add", "--quiet", "--detach", ...lock, "--", path, checkout.commit]);
  }
}

export async function unlockWorktree(git: Git, path: WorktreePath): Promise<void> {
  await git(["worktree", "unlock", "--", path]);
}

export async function lockWorktree(git: Git, path: WorktreePath, reason: string): Promise<void> {
  await git(["worktree", "lock", `--reason=${reason}`, "--", path]);
}

/** `git worktree remove`, never forced: git refuses when a tracked file is modified or one is untracked. */
export async function removeWorktree(git: Git, path: WorktreePath): Promise<void> {
  await git(["worktree", "remove", "--", path]);
}
