import { treeChanges } from "../git/diff-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { isAncestor } from "../git/merge-base.ts";
import { branchRef, type Oid, type RefName } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { moveRefs } from "../git/update-ref.ts";
import { obstacle } from "./overlap.ts";
import type { Candidate, Event, Plan, Request } from "./state.ts";

/** References that keep what a landing replaces reachable, so that it can be undone. */
export function backupRefs(id: string): { source: RefName; target: RefName } {
  return { source: `refs/ultrathink/${id}/source` as RefName, target: `refs/ultrathink/${id}/target` as RefName };
}

/**
 * Moves the target to the candidate by compare-and-swap, after a look at what the holder has in the way.
 *
 * Run in the holder, so that its HEAD reflog tells of the move as it would of a `git merge`.
 */
export async function advance(
  repository: Repository,
  request: Request,
  plan: Plan,
  candidate: Candidate,
): Promise<Event> {
  const { sourceTip, targetTip, holder } = plan;
  const git = holder === undefined ? repository.git : repository.at(holder);
  const target = branchRef(request.target);
  const now = await refTip(git, target);
  if (now === undefined) return { type: "refused", reason: { kind: "branch-missing", branch: request.target } };
  // By us, before a crash; others may have built on it since.
  if (await alreadyThere(repository, candidate.oid, now.oid, targetTip)) return { type: "advanced" };
  if (now.oid !== targetTip) return { type: "target-moved", to: now.oid };

  if (holder !== undefined) {
    const changes = await treeChanges(git, targetTip, candidate.oid);
    const reason = await obstacle(git, holder, changes, await status(git));
    if (reason) return { type: "refused", reason };
  }
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

async function alreadyThere({ git }: Repository, candidate: Oid, now: Oid, planned: Oid): Promise<boolean> {
  return now !== planned && (now === candidate || (await isAncestor(git, candidate, now)));
}
