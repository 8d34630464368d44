import { lstat, mkdir, realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isIgnored } from "../git/check-ignore.ts";
import { GitError } from "../git/git-error.ts";
import { toWorktreePath, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { repositoryPlace } from "../git/rev-parse.ts";
import { ifAbsent } from "../git/tree-file.ts";
import type { Worktree } from "../git/worktree-list.ts";

export interface Wanted {
  readonly path: string;
  /** Makes the missing parent folders. */
  readonly makeParent?: boolean;
}

export type DestinationRefusal =
  | { readonly kind: "path-exists"; readonly path: string }
  | {
      readonly kind: "path-registered";
      readonly path: string;
      readonly missing: boolean;
      /** Why it is locked; `undefined` when it is not. */
      readonly locked: string | undefined;
    }
  | { readonly kind: "path-not-writable"; readonly path: string; readonly why: string }
  | { readonly kind: "parent-missing"; readonly path: string }
  /** Its tools and its `git add` would pick the new worktree up. */
  | { readonly kind: "inside-worktree"; readonly path: string; readonly worktree: WorktreePath };

export type Destination =
  | {
      readonly kind: "place";
      readonly path: WorktreePath;
      readonly madeParent: string | undefined;
      /** A worktree of this repository that it is inside of, where git ignores it. */
      readonly inside: WorktreePath | undefined;
    }
  | { readonly kind: "refused"; readonly reason: DestinationRefusal };

/** The path as git will name it, symbolic links resolved; every reason not to write there. */
export async function destination(
  repository: Repository,
  { path: wanted, makeParent = false }: Wanted,
  all: readonly Worktree[],
): Promise<Destination> {
  const parent = dirname(wanted);
  try {
    const { folder, missing } = await nearestFolder(parent);
    if (!(await lstat(folder)).isDirectory() || (missing.length > 0 && !makeParent)) {
      return refused({ kind: "parent-missing", path: parent });
    }
    const path = toWorktreePath(join(folder, ...missing, basename(wanted)));
    const exists = (await lstat(path).catch(ifAbsent)) !== undefined;
    const registered = all.find((worktree) => worktree.path === path);
    if (registered) return refused({ kind: "path-registered", path, missing: !exists, locked: registered.locked });
    if (exists) return refused({ kind: "path-exists", path });
    const own = await ownAround(repository, path, all);
    const around = own?.ignored === false ? own.worktree : await foreignAround(repository, path, folder, all);
    if (around !== undefined) return refused({ kind: "inside-worktree", path, worktree: around });
    return { kind: "place", path, madeParent: await makeFolders(folder, missing), inside: own?.worktree };
  } catch (error) {
    if (error instanceof GitError) throw error;
    return refused({ kind: "path-not-writable", path: parent, why: (error as Error).message });
  }
}

/** `path` as git will name a worktree there: symbolic links on the way resolved. */
export async function canonicalPath(path: string): Promise<WorktreePath> {
  const { folder, missing } = await nearestFolder(dirname(path));
  return toWorktreePath(join(folder, ...missing, basename(path)));
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

/** The worktree of this repository that `path` is in; one that would have it among its own files comes first. */
async function ownAround(
  repository: Repository,
  path: WorktreePath,
  all: readonly Worktree[],
): Promise<{ readonly worktree: WorktreePath; readonly ignored: boolean } | undefined> {
  let inside: WorktreePath | undefined;
  for (const worktree of all) {
    if (worktree.bare || worktree.prunable !== undefined || !isBelow(path, worktree.path)) continue;
    const ignored = await isIgnored(repository.at(worktree.path), `${relative(worktree.path, path)}/`);
    if (!ignored) return { worktree: worktree.path, ignored };
    inside = worktree.path;
  }
  return inside === undefined ? undefined : { worktree: inside, ignored: true };
}

/**
 * The worktree of another repository that would have `path` among its files. One that this repository lies in already (a home directory under version
 * control) does not count: whatever is beside this repository is in it.
 *
 * @param folder the nearest to `path` that is there.
 */
async function foreignAround(
  repository: Repository,
  path: WorktreePath,
  folder: string,
  all: readonly Worktree[],
): Promise<WorktreePath | undefined> {
  const top = await repositoryPlace(repository.at(folder)).then(
    ({ topLevel }) => topLevel,
    (error: unknown) => {
      if (error instanceof GitError && (error.kind === "not-a-repository" || error.kind === "unsafe-owner"))
        return undefined;
      throw error;
    },
  );
  if (top === undefined || all.some((worktree) => worktree.path === top || isBelow(worktree.path, top)))
    return undefined;
  return (await isIgnored(repository.at(top), `${relative(top, path)}/`)) ? undefined : top;
}

function refused(reason: DestinationRefusal): Destination {
  return { kind: "refused", reason };
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Removes `folder` and what is above it, up to `top`, as far as they are empty. */
export async function removeEmpty(folder: string, top: string): Promise<void> {
  for (let path = folder; path === top || isBelow(path, top); path = dirname(path)) {
    const inUse = await rmdir(path).then(() => false, isInUse);
    if (inUse) return;
  }
}

function isInUse(error: NodeJS.ErrnoException): true {
  if (error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "ENOENT") return true;
  throw error;
}
