import { treeChanges } from "../git/diff-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { branchRef } from "../git/names.ts";
import { readTree } from "../git/read-tree.ts";
import type { Repository } from "../git/repository.ts";
import { updateRef } from "../git/update-ref.ts";
import { settle } from "./settle.ts";
import type { Candidate, Event, Plan, Request } from "./state.ts";

/** Brings the holder's index and files to the candidate. What the user has staged, edited or added stays. */
export async function sync(repository: Repository, plan: Plan, candidate: Candidate): Promise<Event> {
  const { holder, targetTip } = plan;
  if (holder === undefined) return { type: "synced" };
  try {
    await readTree(repository.at(holder), targetTip, candidate.oid);
    return { type: "synced" };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const output = error.command.stderr.trim() || error.message;
    return { type: "refused", reason: { kind: "sync-failed", worktree: holder, output } };
  }
}

/** After a sync that failed: the target goes back by compare-and-swap, the holder's files with it. */
export async function restore(
  repository: Repository,
  request: Request,
  plan: Plan,
  candidate: Candidate,
): Promise<Event> {
  const { holder, targetTip } = plan;
  if (holder === undefined) return { type: "restored" };
  const git = repository.at(holder);
  const target = branchRef(request.target);
  const now = await refTip(git, target);
  if (now?.oid === candidate.oid)
    await updateRef(git, target, candidate.oid, targetTip, "ultrathink: undo, sync failed");
  await settle(git, holder, await treeChanges(git, targetTip, candidate.oid), "old");
  return { type: "restored" };
}
