import { type RefTip, refTip } from "../git/for-each-ref.ts";
import { branchRef, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { deleteRef } from "../git/update-ref.ts";
import { unlockWorktree } from "../git/worktree.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";
import { changesIn } from "../worktree/changes.ts";
import { deleteWorktree } from "../worktree/delete.ts";
import type { Event, Note, Outcome, Request } from "./state.ts";
import { pathList } from "./words.ts";

/** Removes the run's worktree and its branch. What git refuses to remove stays, and is told. */
export async function clean(repository: Repository, request: Request, outcome: Outcome): Promise<Event> {
  const { retire, source } = request;
  const branch = branchRef(source);
  if (retire === undefined)
    return { type: "cleaned", notes: sourceNotes(await refTip(repository.git, branch), outcome) };
  const registered = (await worktrees(repository.git)).find(({ path }) => path === retire);
  if (registered) {
    const kept = (await whyKept(repository, request, retire, registered)) ?? (await deleteWorktree(repository, retire));
    if (kept !== undefined) {
      // The run is over: the worktree is the user's now, who could not remove a locked one.
      if (registered.locked !== undefined) await unlockWorktree(repository.git, retire);
      return { type: "cleaned", notes: [{ kind: "worktree-kept", worktree: retire, why: kept }] };
    }
  }
  const tip = await refTip(repository.git, branch);
  if (tip?.oid === outcome.sourceTip) await deleteRef(repository.git, branch, outcome.sourceTip);
  return { type: "cleaned", notes: sourceNotes(tip, outcome) };
}

/** What of it is in no commit and somebody's work, or `undefined` when it may go. */
async function whyKept(
  repository: Repository,
  { born }: Request,
  path: WorktreePath,
  { prunable }: Worktree,
): Promise<string | undefined> {
  if (prunable !== undefined) return undefined;
  const left = await status(repository.at(path), { untracked: "all" });
  const { work } = await changesIn(path, left, born);
  // A process that died here may have deleted some of it already.
  const there = work.filter((entry) => entry.kind !== "changed" || entry.xy !== ".D");
  return there.length === 0 ? undefined : `in no commit: ${pathList(there.map((entry) => entry.path))}`;
}

function sourceNotes(tip: RefTip | undefined, { sourceTip }: Outcome): Note[] {
  return tip === undefined || tip.oid === sourceTip ? [] : [{ kind: "source-moved", to: tip.oid }];
}
