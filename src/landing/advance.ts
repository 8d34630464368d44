import type { treeChanges } from "../git/diff-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { GitError } from "../git/git-error.ts";
import { isAncestor } from "../git/merge-base.ts";
import { branchRef, type RefName } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { statusAndHead } from "../git/status.ts";
import { moveRefs } from "../git/update-ref.ts";
import { backupRefs } from "./backup-refs.ts";
import { clearOwnLock, type LockedIndex, lockIndex } from "./holder-index.ts";
import { obstacle } from "./overlap.ts";
import type { Built, Candidate, Event, Plan, Request } from "./state.ts";

/** What the two steps that move things share. */
export interface MoveContext {
  /** The step may have been done, or half done, before a crash. */
  resumed: boolean;
  readonly changes: typeof treeChanges;
  /** The holder's index, from before the branch moves until its files have followed. */
  index: LockedIndex | undefined;
}

/**
 * Moves the target to the candidate by compare-and-swap, after a look at what the holder has in the way. The
 * holder's index stays locked for the sync that follows.
 *
 * Run in the holder, so that its HEAD reflog tells of the move as it would of a `git merge`.
 */
export async function advance(
  repository: Repository,
  { request, plan, candidate }: Built,
  context: MoveContext,
): Promise<Event> {
  const { targetTip, holder, holderDirs } = plan;
  const git = holder === undefined ? repository.git : repository.at(holder);
  const target = branchRef(request.target);
  if (context.resumed) {
    if (holderDirs !== undefined) await clearOwnLock(holderDirs, request.id);
    if (await isAdvanced(git, target, plan, candidate)) return { type: "advanced" };
  }
  if (holder !== undefined && holderDirs !== undefined) {
    const lock = await lockIndex(holderDirs, request.id);
    if (lock.kind === "held-by-another") {
      const { file, ageMs } = lock;
      return { type: "refused", reason: { kind: "locked", file, ageMs } };
    }
    context.index = lock.index;
    const changes = await context.changes(git, targetTip, candidate.oid);
    const paths = changes.map(({ path }) => path);
    const { entries, branch } = await statusAndHead(git, { paths, refreshed: lock.index.env });
    if (branch !== request.target) return { type: "target-moved", to: targetTip }; // switched since the plan
    const reason = await obstacle(git, holder, changes, entries);
    if (reason) return { type: "refused", reason };
  }
  return moveTarget(git, request, plan, candidate);
}

async function moveTarget(git: Git, request: Request, plan: Plan, candidate: Candidate): Promise<Event> {
  const { sourceTip, targetTip } = plan;
  const target = branchRef(request.target);
  const backup = backupRefs(request.id);
  try {
    await moveRefs(git, `ultrathink: ${plan.build} ${request.source}`, [
      { ref: target, from: targetTip, to: candidate.oid },
      { ref: backup.source, to: sourceTip },
      { ref: backup.target, to: targetTip },
    ]);
    return { type: "advanced" };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const output = error.command.stderr.trim();
    if (error.kind === "hook-rejected") {
      return { type: "refused", reason: { kind: "hook-rejected", hook: "reference-transaction", output } };
    }
    if (error.kind === "locked") {
      const file = /Unable to create '(.*\.lock)'/.exec(output)?.[1] ?? target;
      return { type: "refused", reason: { kind: "locked", file, ageMs: 0 } };
    }
    if (error.kind !== "stale-ref") throw error;
  }
  const moved = await refTip(git, target);
  if (moved === undefined) return { type: "refused", reason: { kind: "branch-missing", branch: request.target } };
  return { type: "target-moved", to: moved.oid };
}

/** By us, before a crash; others may have built on it since. */
async function isAdvanced(
  git: Git,
  target: RefName,
  { targetTip, build }: Plan,
  candidate: Candidate,
): Promise<boolean> {
  const now = await refTip(git, target);
  if (now === undefined || now.oid === targetTip) return false;
  if (now.oid === candidate.oid) return true;
  return build !== "undo" && (await isAncestor(git, candidate.oid, now.oid)); // an undo goes to an ancestor of everything
}
