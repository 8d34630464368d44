import type { Stats } from "node:fs";
import { chmod, lstat, lutimes, mkdir, readdir, readlink, symlink, utimes } from "node:fs/promises";
import { type TreePath, treePath, type WorktreePath } from "../git/names.ts";
import { absolute, ifAbsent } from "../git/tree-file.ts";
import { copyRegularFile, times } from "./copy-file.ts";
import { linkText } from "./link-text.ts";

export interface CopyProgress {
  /** Files and symbolic links. */
  readonly files: number;
  readonly bytes: number;
}

export interface Copied extends CopyProgress {
  readonly skipped: readonly Skipped[];
}

/** Not copied. */
export interface Skipped {
  readonly path: TreePath;
  /** A repository or worktree of its own; something else of the worktree's there; a socket, FIFO or device. */
  readonly why: "repository" | "in-the-way" | "special";
}

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** Files and folders under way at once; Node has four threads for them. */
const AT_ONCE = 16;
/** Between two progress events, in milliseconds. */
const PROGRESS_MS = 100;

/**
 * Copies `paths`, directories with all that is in them, from one worktree to the same place in another: by
 * reference where the file system can, with mode and times; symbolic links stay links, followed by nobody. What is
 * at the destination already stays.
 *
 * Directories are always left writable for their owner: a worktree that holds others cannot be removed.
 *
 * @throws the signal's reason when it aborts; {NodeJS.ErrnoException} with the path. Part of it is copied then,
 *   and nothing is under way any more.
 */
export async function copyPaths(
  from: WorktreePath,
  to: WorktreePath,
  paths: readonly TreePath[],
  { signal, onProgress }: CopyOptions = {},
): Promise<Copied> {
  const skipped: Skipped[] = [];
  const folders: { readonly path: TreePath; readonly stats: Stats }[] = [];
  const todo: TreePath[] = [];
  let files = 0;
  let bytes = 0;
  let told = 0;
  const failed = new AbortController();
  const stop = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const advance = (moreFiles: number, moreBytes: number): void => {
    files += moreFiles;
    bytes += moreBytes;
    if (Date.now() - told < PROGRESS_MS) return;
    told = Date.now();
    onProgress?.({ files, bytes });
  };
  const skip = (path: TreePath, why: Skipped["why"]) => void skipped.push({ path, why });

  /** Makes the folders that lead to `path`; not through a link or a file that the worktree has there. */
  const makeParents = async (path: TreePath): Promise<boolean> => {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
      const folder = path.slice(0, slash) as TreePath;
      const made = await makeFolder(absolute(to, folder));
      if (made === "in-the-way") return false;
      if (made === "made") folders.push({ path: folder, stats: await lstat(absolute(from, folder)) });
    }
    return true;
  };

  const copyFolder = async (path: TreePath, stats: Stats): Promise<void> => {
    const names = (await readdir(absolute(from, path), { encoding: "buffer" }).catch(ifAbsent))?.map(treePath) ?? [];
    if (names.some((name) => name === ".git")) return skip(path, "repository");
    const made = await makeFolder(absolute(to, path));
    if (made === "in-the-way") return skip(path, "in-the-way");
    if (made === "made") folders.push({ path, stats });
    for (const name of names) todo.push(`${path}/${name}` as TreePath);
  };

  const copyLink = async (path: TreePath, stats: Stats): Promise<void> => {
    const text = await readlink(absolute(from, path), { encoding: "buffer" });
    const target = absolute(to, path);
    await symlink(await linkText({ from, to, path, text }), target);
    await lutimes(target, ...times(stats));
    advance(1, 0);
  };

  const copyFile = async (path: TreePath, stats: Stats): Promise<void> => {
    const onBytes = (more: number) => advance(0, more);
    await copyRegularFile(absolute(from, path), absolute(to, path), stats, onBytes, stop);
    advance(1, 0);
  };

  const copy = async (path: TreePath): Promise<void> => {
    stop.throwIfAborted();
    const stats = await lstat(absolute(from, path)).catch(ifAbsent);
    if (stats === undefined) return; // whatever is building there has just deleted it
    try {
      if (stats.isDirectory()) await copyFolder(path, stats);
      else if (stats.isSymbolicLink()) await copyLink(path, stats);
      else if (stats.isFile()) await copyFile(path, stats);
      else skip(path, "special");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") skip(path, "in-the-way");
      else if (code !== "ENOENT" || (await lstat(absolute(from, path)).catch(ifAbsent)) !== undefined) throw error;
    }
  };

  for (const path of paths) {
    const plain = path.replace(/\/$/, "") as TreePath;
    if (await makeParents(plain)) todo.push(plain);
    else skip(plain, "in-the-way");
  }
  await drain(todo, AT_ONCE, copy, failed);
  // Not before: what is made in a folder changes its time.
  for (const { path, stats } of folders) {
    await chmod(absolute(to, path), (stats.mode & 0o7777) | 0o700);
    await utimes(absolute(to, path), ...times(stats));
  }
  if (files > 0) onProgress?.({ files, bytes });
  return { files, bytes, skipped };
}

async function makeFolder(path: Buffer): Promise<"made" | "there" | "in-the-way"> {
  try {
    await mkdir(path);
    return "made";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await lstat(path)).isDirectory() ? "there" : "in-the-way";
  }
}

/**
 * Runs `work` on the items of `todo`, which it may add to, `limit` at a time.
 *
 * @param failed aborts at the first failure, which is rejected with once nothing is under way any more.
 */
async function drain<T>(
  todo: T[],
  limit: number,
  work: (item: T) => Promise<void>,
  failed: AbortController,
): Promise<void> {
  await new Promise<void>((resolve) => {
    let underWay = 0;
    const next = (): void => {
      while (underWay < limit && !failed.signal.aborted) {
        const item = todo.pop();
        if (item === undefined) break;
        underWay++;
        work(item)
          .catch((error: unknown) => failed.abort(error))
          .finally(() => {
            underWay--;
            next();
          });
      }
      if (underWay === 0) resolve();
    };
    next();
  });
  failed.signal.throwIfAborted();
}
