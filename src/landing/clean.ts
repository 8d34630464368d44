import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { branchRef } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { deleteRef } from "../git/update-ref.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import type { Event, Outcome, Request } from "./state.ts";

/** Removes the run's worktree and its branch. What git refuses to remove stays, and is told. */
export async function clean(repository: Repository, request: Request, outcome: Outcome): Promise<Event> {
  const { retire, source } = request;
  if (retire === undefined) return { type: "cleaned", warnings: [] };
  const warnings: string[] = [];
  const registered = (await worktrees(repository.git)).find(({ path }) => path === retire);
  if (registered) {
    try {
      if (registered.locked !== undefined) await unlockWorktree(repository.git, retire);
      await removeWorktree(repository.git, retire);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return { type: "cleaned", warnings: [`worktree ${retire} and branch ${source} are kept: ${error.message}`] };
    }
  }
  const branch = branchRef(source);
  const tip = await refTip(repository.git, branch);
  if (tip?.oid === outcome.sourceTip) await deleteRef(repository.git, branch, outcome.sourceTip);
  else if (tip) warnings.push(`branch ${source} is kept: it moved to ${tip.oid} during the landing`);
  return { type: "cleaned", warnings };
}
