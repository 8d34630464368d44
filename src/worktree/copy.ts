import { constants, createReadStream, createWriteStream, type Stats } from "node:fs";
import { chmod, copyFile, lstat, lutimes, mkdir, readdir, readlink, symlink, utimes } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type TreePath, treePath, type WorktreePath } from "../git/names.ts";
import { absolute, ifAbsent } from "../git/tree-file.ts";
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

/** Files under way at once; Node has four threads for them. */
const AT_ONCE = 8;
/** Files from here on are copied in pieces when they cannot be cloned, so that they can be broken off. */
const LARGE_BYTES = 16 * 1024 * 1024;
/** Between two progress events, in milliseconds. */
const PROGRESS_MS = 100;

interface Job {
  readonly path: TreePath;
  readonly stats: Stats;
}

/**
 * Copies `paths`, directories with all that is in them, from one worktree to the same place in another: by
 * reference where the file system can (`FICLONE`), with mode and times; symbolic links stay links, followed by
 * nobody. What is at the destination already stays.
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
  const folders: Job[] = [];
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

  async function* jobs(): AsyncGenerator<Job> {
    for (const path of paths) {
      const plain = path.replace(/\/$/, "") as TreePath;
      if (await makeParents(plain)) yield* below(plain);
      else skipped.push({ path: plain, why: "in-the-way" });
    }
  }

  /** Makes the folders that lead to `path`; not through a link or a file that the worktree has there. */
  async function makeParents(path: TreePath): Promise<boolean> {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
      const folder = path.slice(0, slash) as TreePath;
      const made = await makeFolder(absolute(to, folder));
      if (made === "in-the-way") return false;
      if (made === "made") folders.push({ path: folder, stats: await lstat(absolute(from, folder)) });
    }
    return true;
  }

  async function* below(path: TreePath): AsyncGenerator<Job> {
    stop.throwIfAborted();
    const source = absolute(from, path);
    const stats = await lstat(source).catch(ifAbsent);
    if (stats === undefined) return; // whatever is building there has just deleted it
    if (!stats.isDirectory()) {
      if (stats.isFile() || stats.isSymbolicLink()) yield { path, stats };
      else skipped.push({ path, why: "special" });
      return;
    }
    const names = (await readdir(source, { encoding: "buffer" }).catch(ifAbsent))?.map(treePath) ?? [];
    if (names.some((name) => name === ".git")) {
      skipped.push({ path, why: "repository" });
      return;
    }
    const made = await makeFolder(absolute(to, path));
    if (made === "in-the-way") {
      skipped.push({ path, why: "in-the-way" });
      return;
    }
    if (made === "made") folders.push({ path, stats });
    for (const name of names) yield* below(`${path}/${name}` as TreePath);
  }

  async function copy({ path, stats }: Job): Promise<void> {
    const source = absolute(from, path);
    const target = absolute(to, path);
    try {
      if (stats.isSymbolicLink()) {
        await symlink(await linkText({ from, to, path, text: await readlink(source, { encoding: "buffer" }) }), target);
        await lutimes(target, ...times(stats));
        advance(1, 0);
      } else {
        await copyContent(source, target, stats, (moreBytes) => advance(0, moreBytes), stop);
        await utimes(target, ...times(stats));
        advance(1, 0);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") skipped.push({ path, why: "in-the-way" });
      else if (code !== "ENOENT" || (await lstat(source).catch(ifAbsent)) !== undefined) throw error;
    }
  }

  await share(jobs(), AT_ONCE, copy, failed);
  for (const { path, stats } of folders.reverse()) {
    await chmod(absolute(to, path), (stats.mode & 0o7777) | 0o700);
    await utimes(absolute(to, path), ...times(stats));
  }
  if (files > 0) onProgress?.({ files, bytes });
  return { files, bytes, skipped };
}

/** In seconds; a `Date` has no more than milliseconds of them. */
function times({ atimeMs, mtimeMs }: Stats): [number, number] {
  return [atimeMs / 1000, mtimeMs / 1000];
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

async function copyContent(
  source: Buffer,
  target: Buffer,
  { size, mode }: Stats,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (size < LARGE_BYTES) {
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return onBytes(size);
  }
  const cloned = await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw error;
      return false; // there is no clone of it here; if that is not why, the copy says so
    },
  );
  if (cloned) return onBytes(size);
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      onBytes(chunk.length);
      yield chunk;
    }
  };
  const output = createWriteStream(target, { flags: "wx", mode: mode & 0o777 });
  await pipeline(createReadStream(source), counted, output, { signal });
  await chmod(target, mode & 0o7777);
}

/**
 * Runs `work` on each of `items`, `limit` at a time.
 *
 * @param failed aborts at the first failure, which is rejected with once nothing is under way any more.
 */
async function share<T>(
  items: AsyncGenerator<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  failed: AbortController,
): Promise<void> {
  const worker = async () => {
    try {
      for await (const item of items) await work(item);
    } catch (error) {
      failed.abort(error);
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  failed.signal.throwIfAborted();
}
