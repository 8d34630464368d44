import { constants, createReadStream, createWriteStream, type Stats } from "node:fs";
import { chmod, copyFile, utimes } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Files from here on are copied in pieces when they cannot be cloned, so that they can be broken off. */
const LARGE_BYTES = 16 * 1024 * 1024;

/**
 * Copies a regular file: by reference where the file system can (`FICLONE`), with mode and times.
 *
 * @param onBytes told how many more there are.
 * @throws {NodeJS.ErrnoException} `EEXIST` when there is something at `target`.
 */
export async function copyRegularFile(
  source: Buffer,
  target: Buffer,
  stats: Stats,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  await copyContent(source, target, stats, onBytes, signal);
  await utimes(target, ...times(stats));
}

/** In seconds; a `Date` has no more than milliseconds of them. */
export function times({ atimeMs, mtimeMs }: Stats): [number, number] {
  return [atimeMs / 1000, mtimeMs / 1000];
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
