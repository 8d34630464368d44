import { type TreeChange, treeChanges } from "../git/diff-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { GitError } from "../git/git-error.ts";
import { branchRef, type WorktreePath } from "../git/names.ts";
import { readTree, refreshIndex } from "../git/read-tree.ts";
import type { Repository } from "../git/repository.ts";
import { statusAndHead } from "../git/status.ts";
import { updateRef } from "../git/update-ref.ts";
import type { AdvanceContext } from "./advance.ts";
import { clearDeadLock } from "./dead-lock.ts";
import { postMerge } from "./post-merge.ts";
import { settle } from "./settle.ts";
import type { Candidate, Event, Note, Plan, Request } from "./state.ts";
import { takeUp } from "./take-up.ts";

/** The holder did not come out as it should. */
class SyncError extends Error {
  override readonly name = "SyncError";
}

/**
 * Brings the holder's index and files to the candidate. What the user has staged, edited or added stays.
 * Taken up after a crash, files may be a mix of old and new.
 */
export async function sync(
  repository: Repository,
  request: Request,
  plan: Plan,
  candidate: Candidate,
  { resumed, changes: changesBetween }: AdvanceContext,
): Promise<Event> {
  const { holder, targetTip } = plan;
  if (holder === undefined) return { type: "synced", notes: [] };
  const git = repository.at(holder);
  const changes = await changesBetween(git, targetTip, candidate.oid);
  if (resumed) {
    const notes = await takeUp(repository, request, holder, candidate, changes);
    return { type: "synced", notes: [...notes, ...(await postMerge(git, plan, candidate))] };
  }
  try {
    const notes = await move(git, request, plan, candidate, { holder, changes });
    return { type: "synced", notes: [...notes, ...(await postMerge(git, plan, candidate))] };
  } catch (error) {
    if (!(error instanceof GitError || error instanceof SyncError)) throw error;
    const output = error instanceof GitError ? error.command.stderr.trim() || error.message : error.message;
    return { type: "refused", reason: { kind: "sync-failed", worktree: holder, output } };
  }
}

interface Affected {
  readonly holder: WorktreePath;
  readonly changes: readonly TreeChange[];
}

async function move(
  git: Git,
  request: Request,
  { targetTip }: Plan,
  candidate: Candidate,
  { holder, changes }: Affected,
): Promise<Note[]> {
  try {
    await readTree(git, targetTip, candidate.oid);
  } catch (error) {
    if (!(error instanceof GitError) || !/not uptodate/.test(error.command.stderr)) throw error;
    await refreshIndex(git); // touched, not changed, since the look at it
    await readTree(git, targetTip, candidate.oid);
  }
  const { entries, head, branch } = await statusAndHead(git, { paths: changes.map(({ path }) => path) });
  if (head !== candidate.oid || branch !== request.target) {
    throw new SyncError(`HEAD is at ${head} on ${branch ?? "no branch"} after the landing`);
  }
  const touched = new Set(changes.map(({ path }) => path));
  const off = entries.filter(({ path, kind }) => kind !== "untracked" && touched.has(path));
  const staged = off.filter((entry) => !("xy" in entry) || entry.xy[0] !== ".");
  if (staged.length > 0) throw new SyncError(`${staged.length} index entries differ from what landed`);
  // Not the index but the file differs: line ends that git normalises, or an edit made this very moment.
  return off.length === 0 ? [] : [{ kind: "kept-edits", paths: off.map(({ path }) => path), worktree: holder }];
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
  // Files first: on a full disk the reference can be written only once they have given room back.
  await clearDeadLock(git, holder);
  await settle(git, holder, await treeChanges(git, targetTip, candidate.oid), "old");
  const target = branchRef(request.target);
  const now = await refTip(git, target);
  if (now?.oid === candidate.oid) {
    await updateRef(git, target, candidate.oid, targetTip, "ultrathink: put back, sync failed");
  }
  return { type: "restored" };
}
