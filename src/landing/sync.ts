import type { TreeChange } from "../git/diff-tree.ts";
import { refTip } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { GitError } from "../git/git-error.ts";
import { branchRef, type Oid, type WorktreePath } from "../git/names.ts";
import { readTree, refreshIndex } from "../git/read-tree.ts";
import type { Repository } from "../git/repository.ts";
import { statusAndHead } from "../git/status.ts";
import { updateRef } from "../git/update-ref.ts";
import type { MoveContext } from "./advance.ts";
import { clearOwnLock, type LockedIndex } from "./holder-index.ts";
import { postMerge } from "./post-merge.ts";
import { settleFiles } from "./settle.ts";
import type { Built, Candidate, Event, Note, Request } from "./state.ts";
import { takeUp } from "./take-up.ts";

/** The holder did not come out as it should. */
class SyncError extends Error {
  override readonly name = "SyncError";
}

/**
 * Brings the holder's index and files to the candidate. What the user has staged, edited or added stays.
 *
 * Taken up after a crash, files may be a mix of old and new.
 */
export async function sync(
  repository: Repository,
  { request, plan, candidate }: Built,
  context: MoveContext,
): Promise<Event> {
  const { holder, holderDirs, targetTip } = plan;
  if (holder === undefined || holderDirs === undefined) return { type: "synced", notes: [] };
  const git = repository.at(holder);
  const changes = await context.changes(git, targetTip, candidate.oid);
  if (context.index === undefined) {
    const notes = await takeUp(repository, request, candidate, { holder, holderDirs, changes });
    return { type: "synced", notes: [...notes, ...(await postMerge(git, plan, candidate))] };
  }
  try {
    await move(git, targetTip, candidate.oid, context.index);
    await releaseIndex(context);
    const notes = await verify(git, request, candidate, { holder, changes });
    return { type: "synced", notes: [...notes, ...(await postMerge(git, plan, candidate))] };
  } catch (error) {
    if (!(error instanceof GitError || error instanceof SyncError)) throw error;
    const output = error instanceof GitError ? error.command.stderr.trim() || error.message : error.message;
    return { type: "refused", reason: { kind: "sync-failed", worktree: holder, output } };
  }
}

async function move(git: Git, from: Oid, to: Oid, index: LockedIndex): Promise<void> {
  try {
    await readTree(git, from, to, index.env);
  } catch (error) {
    if (!(error instanceof GitError) || !/not uptodate/.test(error.command.stderr)) throw error;
    await refreshIndex(git, index.env); // touched, not changed, since the look at it
    await readTree(git, from, to, index.env);
  }
  await index.publish();
}

/** Idempotent, so that it can stand in a `finally`. */
export async function releaseIndex(context: MoveContext): Promise<void> {
  const { index } = context;
  context.index = undefined;
  await index?.release();
}

interface Affected {
  readonly holder: WorktreePath;
  readonly changes: readonly TreeChange[];
}

async function verify(
  git: Git,
  request: Request,
  candidate: Candidate,
  { holder, changes }: Affected,
): Promise<Note[]> {
  const { entries, head, branch } = await statusAndHead(git, { paths: changes.map(({ path }) => path) });
  // Somebody may have gone on at once: a commit on top, a switch to another branch.
  if (head !== candidate.oid || branch !== request.target) return [];
  const touched = new Set(changes.map(({ path }) => path));
  const off = entries.filter(({ path, kind }) => kind !== "untracked" && touched.has(path));
  // The file differs, though git has just written it: line ends that it normalises, or an edit made this very moment.
  return off.length === 0 ? [] : [{ kind: "kept-edits", paths: off.map(({ path }) => path), worktree: holder }];
}

/**
 * After a sync that failed: the holder's files go back, then the target by compare-and-swap.
 *
 * Files first: on a full disk the reference can be written only once they have given room back. The index has
 * not changed: the sync works on a copy.
 */
export async function restore(
  repository: Repository,
  { request, plan, candidate }: Built,
  context: MoveContext,
): Promise<Event> {
  const { holder, holderDirs, targetTip } = plan;
  if (holder === undefined || holderDirs === undefined) return { type: "restored" };
  const git = repository.at(holder);
  if (context.index === undefined) await clearOwnLock(holderDirs, request.id);
  await settleFiles(git, holder, await context.changes(git, targetTip, candidate.oid), "old");
  const target = branchRef(request.target);
  const now = await refTip(git, target);
  if (now?.oid === candidate.oid) {
    await updateRef(git, target, candidate.oid, targetTip, "ultrathink: put back, sync failed");
  }
  await releaseIndex(context);
  await refreshIndex(git);
  return { type: "restored" };
}
