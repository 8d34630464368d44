import { rm, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { refTip, refTips } from "../git/for-each-ref.ts";
import { failedFilter, GitError } from "../git/git-error.ts";
import { treeBytes } from "../git/ls-tree.ts";
import { type BranchName, branchRef, type Oid, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { deleteRef } from "../git/update-ref.ts";
import { addWorktree, removeWorktree, unlockWorktree, type WorktreeCheckout } from "../git/worktree.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";
import { type DestinationRefusal, destination, removeEmpty, type Wanted } from "./destination.ts";

export interface CreateRequest extends Wanted {
  readonly checkout: Extract<WorktreeCheckout, { branch: BranchName }>;
  /** Locks the worktree from birth. */
  readonly lockReason?: string | undefined;
}

export type CreateRefusal =
  | { readonly kind: "branch-exists"; readonly branch: BranchName }
  | { readonly kind: "branch-missing"; readonly branch: BranchName }
  | { readonly kind: "branch-clash"; readonly branch: BranchName; readonly with: string }
  | { readonly kind: "branch-checked-out"; readonly branch: BranchName; readonly worktree: WorktreePath }
  | DestinationRefusal
  /** A required filter failed on the way out of the object database: Git LFS without its server, and the like. */
  | { readonly kind: "filter-failed"; readonly filter: string; readonly output: string }
  | { readonly kind: "disk-full"; readonly path: string; readonly neededBytes: number; readonly freeBytes: number }
  | { readonly kind: "git-failed"; readonly output: string }
  | { readonly kind: "changed-by-hook"; readonly expected: string; readonly found: string };

export interface NewWorktree {
  readonly path: WorktreePath;
  readonly branch: BranchName;
  readonly head: Oid;
  /** Whether the branch is as new as the worktree. */
  readonly newBranch: boolean;
  /** The topmost of the folders above it that were made. */
  readonly madeParent: string | undefined;
}

export type Created =
  | ({
      readonly kind: "created";
      /** A worktree that it is inside of, where git ignores it. */
      readonly inside: WorktreePath | undefined;
      /** Others whose HEAD git cannot read; they are in nobody's way. */
      readonly damaged: readonly Worktree[];
    } & NewWorktree)
  | { readonly kind: "refused"; readonly reason: CreateRefusal };

/**
 * Adds a linked worktree and verifies it. When it does not come out as asked, nothing of it stays: no branch
 * that was not there, no directory, no registration.
 *
 * Call it under the repository lock.
 */
export async function createWorktree(repository: Repository, request: CreateRequest): Promise<Created> {
  const all = await worktrees(repository.git);
  const branch = await branchProblem(repository, request.checkout, all);
  if (branch) return refused(branch);
  const place = await destination(repository, request, all);
  if (place.kind === "refused") return place;
  const { path, madeParent, inside } = place;
  const undo = () => rollBack(repository, path, request.checkout, madeParent);
  try {
    await addWorktree(repository.git, path, request.checkout, request.lockReason);
  } catch (error) {
    await undo();
    if (!(error instanceof GitError) || error.kind === "not-found") throw error;
    return refused(await whyFailed(repository, error, request.checkout, path));
  }
  const made = (await worktrees(repository.git)).find((each) => each.path === path);
  const { checkout } = request;
  const ref = branchRef(checkout.branch);
  const start = checkout.kind === "new-branch" ? checkout.start : made?.head;
  if (made?.branch !== ref || made.head === undefined || made.head !== start) {
    await undo();
    const expected = `${ref}${start === undefined ? "" : ` at ${start}`}`;
    return refused({ kind: "changed-by-hook", expected, found: `${made?.branch ?? "no branch"} at ${made?.head}` });
  }
  const newBranch = checkout.kind === "new-branch";
  const damaged = all.filter((each) => !each.readable && each.prunable === undefined);
  return { kind: "created", path, branch: checkout.branch, head: made.head, newBranch, madeParent, inside, damaged };
}

/** git says that it could not write a file, and not why. */
async function whyFailed(
  repository: Repository,
  error: GitError,
  checkout: CreateRequest["checkout"],
  path: WorktreePath,
): Promise<CreateRefusal> {
  const output = error.command.stderr.trim() || error.message;
  const filter = failedFilter(error);
  if (filter !== undefined) return { kind: "filter-failed", filter, output };
  if (!/unable to write|No space left/.test(output)) return { kind: "git-failed", output };
  const { git } = repository.with({ signal: undefined });
  const commit = checkout.kind === "new-branch" ? checkout.start : branchRef(checkout.branch);
  const neededBytes = await treeBytes(git, commit);
  const freeBytes = await freeSpace(dirname(path));
  return freeBytes < neededBytes ? { kind: "disk-full", path, neededBytes, freeBytes } : { kind: "git-failed", output };
}

/** In bytes, where the nearest folder to `path` is. */
async function freeSpace(path: string): Promise<number> {
  const stats = await statfs(path).catch(ifAbsent);
  return stats === undefined ? freeSpace(dirname(path)) : stats.bavail * stats.bsize;
}

function refused(reason: CreateRefusal): Created & { kind: "refused" } {
  return { kind: "refused", reason };
}

async function branchProblem(
  { git }: Repository,
  { kind, branch }: CreateRequest["checkout"],
  all: readonly Worktree[],
): Promise<CreateRefusal | undefined> {
  const ref = branchRef(branch);
  const tip = await refTip(git, ref);
  if (kind === "branch") {
    const holder = all.find((worktree) => worktree.branch === ref);
    if (holder) return { kind: "branch-checked-out", branch, worktree: holder.path };
    return tip ? undefined : { kind: "branch-missing", branch };
  }
  if (tip) return { kind: "branch-exists", branch };
  const clash = await clashingRef(git, ref);
  return clash === undefined ? undefined : { kind: "branch-clash", branch, with: clash };
}

/** A branch is a file in a folder of branches: `a` and `a/b` exclude each other. */
async function clashingRef(git: Repository["git"], ref: string): Promise<string | undefined> {
  const parts = ref.split("/");
  const parents = parts.map((_, index) => parts.slice(0, index + 1).join("/")).slice(2, -1);
  const found = await refTips(git, [...parents, `${ref}/`]);
  return found.find((tip) => parents.includes(tip.ref) || tip.ref.startsWith(`${ref}/`))?.ref;
}

/**
 * Takes a new worktree back that turned out to be of no use: directory, registration, the folders made for it, and its
 * branch, unless something was committed there. Call it under the repository lock.
 *
 * @returns the branch when it stays.
 */
export async function takeBackWorktree(
  repository: Repository,
  { path, branch, head, newBranch, madeParent }: NewWorktree,
): Promise<BranchName | undefined> {
  const checkout = newBranch
    ? ({ kind: "new-branch", branch, start: head } as const)
    : ({ kind: "branch", branch } as const);
  await rollBack(repository, path, checkout, madeParent);
  if (!newBranch) return undefined;
  return (await refTip(repository.with({ signal: undefined }).git, branchRef(branch))) && branch;
}

/** Everything below `path` is ours: it was not there when we began. */
async function rollBack(
  repository: Repository,
  path: WorktreePath,
  checkout: CreateRequest["checkout"],
  madeParent: string | undefined,
): Promise<void> {
  const steady = repository.with({ signal: undefined });
  await rm(path, { recursive: true, force: true });
  const registered = (await worktrees(steady.git)).find((worktree) => worktree.path === path);
  if (registered?.locked !== undefined) await unlockWorktree(steady.git, path);
  if (registered) await removeWorktree(steady.git, path);
  if (madeParent !== undefined) await removeEmpty(dirname(path), madeParent);
  if (checkout.kind !== "new-branch") return;
  const ref = branchRef(checkout.branch);
  const tip = await refTip(steady.git, ref);
  if (tip?.oid === checkout.start) await deleteRef(steady.git, ref, checkout.start);
}
