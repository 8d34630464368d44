import { stageAll, unstage } from "../git/commit.ts";
import { commitTree } from "../git/commit-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import { branchRef, type Oid, type TreePath, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { fileKind } from "../git/tree-file.ts";
import { deleteRef, moveRefs } from "../git/update-ref.ts";
import { worktrees } from "../git/worktree-list.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { backupRefs } from "../landing/backup-refs.ts";
import type { Outcome, StopReason } from "../landing/state.ts";
import { undoLanding } from "../landing/undo.ts";
import { changesIn } from "../worktree/changes.ts";
import { deleteWorktree } from "../worktree/delete.ts";
import { type KnownRun, knownRuns } from "./known-runs.ts";
import { recorderFor } from "./record.ts";

/** A run by its slug, the newest of that name. */
export async function runNamed(repository: Repository, slug: string): Promise<KnownRun | undefined> {
  return (await knownRuns(repository)).runs.find(({ run }) => run.slug === slug);
}

/** Why an action on a run was not done. */
export type ActionRefusal =
  | { readonly kind: "wrong-status"; readonly status: KnownRun["status"] }
  | { readonly kind: "stopped"; readonly reason: StopReason }
  | { readonly kind: "nothing-to-undo"; readonly why: string }
  /** Their commits may be nowhere else. */
  | { readonly kind: "nested-repository"; readonly paths: readonly TreePath[] }
  | { readonly kind: "not-deleted"; readonly worktree: WorktreePath; readonly why: string };

export type Undone =
  | { readonly kind: "undone"; readonly to: Oid }
  | { readonly kind: "refused"; readonly refusal: ActionRefusal };

/** Takes a landed run back: the original branch and its checkout are as before, the user's own changes stay. */
export async function undoRun(repository: Repository, { run, status: at, landing }: KnownRun): Promise<Undone> {
  const landed = landing?.step === "landed" ? movedTo(landing.outcome) : undefined;
  if (at !== "landed" || landed === undefined) return refused({ kind: "wrong-status", status: at });
  const record = recorderFor(repository, run.id);
  return withRepositoryLock(repository.commonDir, async () => {
    const undo = { id: `${run.id}-undo`, landing: run.id, source: run.branch, target: run.original, landed };
    const end = await undoLanding(repository, undo, (state) => record({ type: "undo", state }));
    switch (end.step) {
      case "nothing-to-undo":
        return refused({ kind: "nothing-to-undo", why: end.why });
      case "stopped":
        return refused({ kind: "stopped", reason: end.reason });
      case "landed":
        return { kind: "undone", to: movedTo(end.outcome) ?? landed };
    }
  });
}

function movedTo(outcome: Outcome): Oid | undefined {
  return outcome.kind === "already-integrated" ? undefined : outcome.to;
}

function refused(refusal: ActionRefusal): { readonly kind: "refused"; readonly refusal: ActionRefusal } {
  return { kind: "refused", refusal };
}

export type Discarded =
  | {
      readonly kind: "discarded";
      /** The branch's commits, kept under the run's tip reference. */
      readonly tip: Oid;
      /** What was in no commit, kept as a commit of its own on top. */
      readonly uncommitted: Oid | undefined;
    }
  | { readonly kind: "refused"; readonly refusal: ActionRefusal };

/**
 * Throws a preserved run away: its worktree and branch go. Its commits, and what was in none, stay reachable
 * under the run's tip reference.
 */
export async function discardRun(
  repository: Repository,
  { run, status: at, tip: recorded }: KnownRun,
): Promise<Discarded> {
  if (at !== "preserved" && at !== "interrupted") return refused({ kind: "wrong-status", status: at });
  return withRepositoryLock(repository.commonDir, async () => {
    const { git } = repository;
    const branch = branchRef(run.branch);
    const tip = (await refTip(git, branch))?.oid ?? recorded;
    const registered = (await worktrees(git)).find(({ path }) => path === run.worktree);
    const present = (await fileKind(run.worktree, ".git" as TreePath)) !== "absent";
    const entries = registered && present ? await status(repository.at(run.worktree), { untracked: "all" }) : [];
    const nested = entries.filter(({ kind, path }) => kind === "untracked" && path.endsWith("/"));
    if (nested.length > 0) return refused({ kind: "nested-repository", paths: nested.map(({ path }) => path) });
    const { work, copied, stagedCopies } = await changesIn(run.worktree, entries, run.born);
    await unstage(repository.at(run.worktree), stagedCopies);
    const uncommitted = work.length > 0 ? await snapshot(repository, run.worktree, tip, copied) : undefined;
    await moveRefs(git, "ultrathink: discarded", [{ ref: backupRefs(run.id).tip, to: uncommitted ?? tip }]);
    // What was in it is in the snapshot now.
    const why = registered ? await deleteWorktree(repository, run.worktree) : undefined;
    if (why !== undefined) return refused({ kind: "not-deleted", worktree: run.worktree, why });
    if (await refTip(git, branch)) await deleteRef(git, branch, tip);
    await recorderFor(repository, run.id)({ type: "discarded" });
    return { kind: "discarded", tip, uncommitted };
  });
}

/** Everything in the worktree as a commit on `tip`, copies of the user's ignored files excepted. */
async function snapshot(repository: Repository, worktree: string, tip: Oid, copied: readonly TreePath[]): Promise<Oid> {
  const git = repository.at(worktree);
  const tree = await stageAll(git, copied);
  return commitTree(git, { tree, parents: [tip], message: "ultrathink: uncommitted work of a discarded run\n" });
}
