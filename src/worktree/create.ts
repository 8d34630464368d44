import { lstat, mkdir, realpath, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isIgnored } from "../git/check-ignore.ts";
import { refTip, refTips } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { type BranchName, branchRef, type Oid, toWorktreePath, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { deleteRef } from "../git/update-ref.ts";
import { addWorktree, removeWorktree, unlockWorktree, type WorktreeCheckout } from "../git/worktree.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";

export interface CreateRequest {
  readonly path: string;
  readonly checkout: Extract<WorktreeCheckout, { branch: BranchName }>;
  /** Locks the worktree from birth. */
  readonly lockReason?: string | undefined;
  /** Makes the missing parent folder, and takes it away again on failure. */
  readonly makeParent?: boolean;
}

export type CreateRefusal =
  | { readonly kind: "branch-exists"; readonly branch: BranchName }
  | { readonly kind: "branch-missing"; readonly branch: BranchName }
  | { readonly kind: "branch-clash"; readonly branch: BranchName; readonly with: string }
  | { readonly kind: "branch-checked-out"; readonly branch: BranchName; readonly worktree: WorktreePath }
  | { readonly kind: "path-exists"; readonly path: string }
  | { readonly kind: "path-registered"; readonly path: string; readonly missing: boolean }
  | { readonly kind: "path-not-writable"; readonly path: string; readonly why: string }
  | { readonly kind: "parent-missing"; readonly path: string }
  | { readonly kind: "inside-worktree"; readonly path: string; readonly worktree: WorktreePath }
  | { readonly kind: "git-failed"; readonly output: string }
  | { readonly kind: "changed-by-hook"; readonly expected: string; readonly found: string };

export type Created =
  | { readonly kind: "created"; readonly path: WorktreePath; readonly branch: BranchName; readonly head: Oid }
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
  const place = await placeFor(repository, request, all);
  if (place.kind === "refused") return place;
  const undo = () => rollBack(repository, place.path, request.checkout, place.madeParent);
  try {
    await addWorktree(repository.git, place.path, request.checkout, request.lockReason);
  } catch (error) {
    await undo();
    if (!(error instanceof GitError) || error.kind === "not-found") throw error;
    return refused({ kind: "git-failed", output: error.command.stderr.trim() || error.message });
  }
  const made = (await worktrees(repository.git)).find(({ path }) => path === place.path);
  const { checkout } = request;
  const ref = branchRef(checkout.branch);
  const start = checkout.kind === "new-branch" ? checkout.start : made?.head;
  if (made?.branch !== ref || made.head === undefined || made.head !== start) {
    await undo();
    const expected = `${ref}${start === undefined ? "" : ` at ${start}`}`;
    return refused({ kind: "changed-by-hook", expected, found: `${made?.branch ?? "no branch"} at ${made?.head}` });
  }
  return { kind: "created", path: place.path, branch: checkout.branch, head: made.head };
}

function refused(reason: CreateRefusal): Created & { kind: "refused" } {
  return { kind: "refused", reason };
}

type Place =
  | { readonly kind: "place"; readonly path: WorktreePath; readonly madeParent: string | undefined }
  | { readonly kind: "refused"; readonly reason: CreateRefusal };

/** The path as git will name it, symbolic links resolved; every reason not to write there. */
async function placeFor(
  repository: Repository,
  { path: wanted, makeParent = false }: CreateRequest,
  all: readonly Worktree[],
): Promise<Place> {
  const parent = dirname(wanted);
  try {
    const { folder, missing } = await nearestFolder(parent);
    if (!(await lstat(folder)).isDirectory() || (missing.length > 0 && !makeParent)) {
      return refused({ kind: "parent-missing", path: parent });
    }
    const path = toWorktreePath(join(folder, ...missing, basename(wanted)));
    const exists = (await lstat(path).catch(ifAbsent)) !== undefined;
    if (all.some((worktree) => worktree.path === path)) {
      return refused({ kind: "path-registered", path, missing: !exists });
    }
    if (exists) return refused({ kind: "path-exists", path });
    const around = await unignoredAround(repository, path, all);
    if (around) return refused({ kind: "inside-worktree", path, worktree: around.path });
    return { kind: "place", path, madeParent: await makeFolders(folder, missing) };
  } catch (error) {
    if (error instanceof GitError) throw error;
    return refused({ kind: "path-not-writable", path: parent, why: (error as Error).message });
  }
}

/** The nearest folder of `path` that is there, symbolic links resolved, and the names below it that are not. */
async function nearestFolder(path: string): Promise<{ folder: string; missing: readonly string[] }> {
  const folder = await realpath(path).catch(ifAbsent);
  if (folder !== undefined) return { folder, missing: [] };
  const above = await nearestFolder(dirname(path));
  return { folder: above.folder, missing: [...above.missing, basename(path)] };
}

/**
 * One by one: Node 20's recursive `mkdir` never returns where the file system has no such folders, as in `/proc`.
 *
 * @returns the topmost folder made.
 */
async function makeFolders(folder: string, missing: readonly string[]): Promise<string | undefined> {
  let path = folder;
  let top: string | undefined;
  try {
    for (const name of missing) {
      path = join(path, name);
      await mkdir(path);
      top ??= path;
    }
  } catch (error) {
    if (top !== undefined) await removeEmpty(dirname(path), top);
    throw error;
  }
  return top;
}

/** The worktree that would have `path` among its own files. */
async function unignoredAround(
  repository: Repository,
  path: WorktreePath,
  all: readonly Worktree[],
): Promise<Worktree | undefined> {
  for (const worktree of all) {
    if (worktree.bare || worktree.prunable !== undefined || !isBelow(path, worktree.path)) continue;
    if (!(await isIgnored(repository.at(worktree.path), `${relative(worktree.path, path)}/`))) return worktree;
  }
  return undefined;
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

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Removes `folder` and what is above it, up to `top`, as far as they are empty. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  for (let path = folder; path === top || isBelow(path, top); path = dirname(path)) {
    const inUse = await rmdir(path).then(() => false, isInUse);
    if (inUse) return;
  }
}

function isInUse(error: NodeJS.ErrnoException): true {
  if (error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "ENOENT") return true;
  throw error;
}
