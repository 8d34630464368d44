import { type RefTip, refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { branchRef, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { deleteRef } from "../git/update-ref.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";
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
    const why = await whyKept(repository, retire, registered);
    if (why !== undefined) return { type: "cleaned", notes: [{ kind: "worktree-kept", worktree: retire, why }] };
    try {
      if (registered.locked !== undefined) await unlockWorktree(repository.git, retire);
      await removeWorktree(repository.git, retire);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return { type: "cleaned", notes: [{ kind: "worktree-kept", worktree: retire, why: error.message }] };
    }
  }
  const tip = await refTip(repository.git, branch);
  if (tip?.oid === outcome.sourceTip) await deleteRef(repository.git, branch, outcome.sourceTip);
  return { type: "cleaned", notes: sourceNotes(tip, outcome) };
}

/** What of it is in no commit, or `undefined` when it may go. */
async function whyKept(
  repository: Repository,
  path: WorktreePath,
  { prunable }: Worktree,
): Promise<string | undefined> {
  if (prunable !== undefined) return undefined;
  const left = await status(repository.at(path), { untracked: "all" });
  return left.length === 0 ? undefined : `in no commit: ${pathList(left.map((entry) => entry.path))}`;
}

function sourceNotes(tip: RefTip | undefined, { sourceTip }: Outcome): Note[] {
  return tip === undefined || tip.oid === sourceTip ? [] : [{ kind: "source-moved", to: tip.oid }];
}
