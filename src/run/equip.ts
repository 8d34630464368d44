import type { BranchName } from "../git/names.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import type { Complete } from "../naming/ask.ts";
import type { Birth } from "../worktree/changes.ts";
import { type NewWorktree, takeBackWorktree } from "../worktree/create.ts";
import { type Equipment, type PrepareProblem, prepareWorktree, type Wishes } from "../worktree/prepare.ts";
import type { Ground } from "./preflight.ts";
import type { Progress } from "./progress.ts";

export interface StartDeps {
  readonly ground: Ground;
  readonly complete: Complete;
  readonly progress: (progress: Progress) => void;
  readonly signal?: AbortSignal | undefined;
}

export type Equipped =
  | { readonly kind: "equipped"; readonly born: Birth; readonly equipment: Equipment }
  | { readonly kind: "cancelled" }
  | {
      readonly kind: "failed";
      readonly problem: PrepareProblem;
      /** A new branch that stays, because something was committed on it. */
      readonly keptBranch: BranchName | undefined;
    };

/**
 * Gives a new worktree what it needs beside its commit, or takes it back. Not to be called under the repository lock:
 * a set-up command may take minutes.
 */
export async function equip(
  { ground, progress, signal }: StartDeps,
  created: NewWorktree,
  wishes: Wishes,
): Promise<Equipped> {
  const { repository, checkout } = ground;
  const prepared = await prepareWorktree(repository, created, wishes, {
    checkout,
    env: process.env,
    signal,
    onCopy: ({ files, bytes }) => progress({ type: "copying", files, bytes }),
    onSetup: (text) => progress({ type: "setup-output", text }),
  });
  if (prepared.kind === "prepared") return { ...prepared, kind: "equipped" };
  const keptBranch = await withRepositoryLock(repository.commonDir, () => takeBackWorktree(repository, created));
  return prepared.kind === "aborted" ? { kind: "cancelled" } : { ...prepared, keptBranch };
}
