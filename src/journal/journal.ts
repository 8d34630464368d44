import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Bump when a reader of the old format would misread a new record. */
const VERSION = 1;

/** A line of a journal, as far as every reader agrees on it. */
export interface JournalRecord {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly record: unknown;
}

/** A journal that a newer version of this package has written. It is left alone. */
export class NewerJournalError extends Error {
  override readonly name = "NewerJournalError";
}

/**
 * Appends `record` to the write-ahead log at `path` and resolves once it is on disk.
 *
 * A crash can tear only the last line, which then lacks its newline; the next append starts a new line.
 */
export async function appendRecord(path: string, record: unknown): Promise<void> {
  const created = (await mkdir(dirname(path), { recursive: true })) !== undefined;
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const torn = size > 0 && !(await endsWithNewline(file, size));
    await file.appendFile(`${torn ? "\n" : ""}${JSON.stringify({ version: VERSION, at: Date.now(), record })}\n`);
    await file.sync();
    if (created || size === 0) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

async function endsWithNewline(file: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}

/** The name of a new file is on disk only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Complete records, in order. Lines that a crash tore are passed over.
 *
 * @throws {NewerJournalError} on a record of a version that this code does not know.
 */
export async function readRecords(path: string): Promise<JournalRecord[]> {
  const lines = (await readFile(path, "utf8")).split("\n");
  return lines.flatMap((line) => {
    const value = parseLine(line);
    if (!hasVersion(value)) return [];
    if (value.version !== VERSION) {
      throw new NewerJournalError(`${path} has records of version ${value.version}; this is version ${VERSION}`);
    }
    return isRecord(value) ? [{ at: value.at, record: value.record }] : [];
  });
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // torn by a crash
    throw error;
  }
}

function hasVersion(value: unknown): value is { readonly version: number } {
  return typeof value === "object" && value !== null && "version" in value && typeof value.version === "number";
}

function isRecord(value: object): value is JournalRecord {
  return "at" in value && typeof value.at === "number" && "record" in value;
}

/** Where the runs of a repository are recorded. */
export function journalFolder(commonDir: string): string {
  return join(commonDir, "ultrathink", "runs");
}

/** Ids of the runs that have a journal. */
export async function journalIds(commonDir: string): Promise<string[]> {
  const names = await readdir(journalFolder(commonDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -".jsonl".length));
}

export function journalPath(commonDir: string, id: string): string {
  return join(journalFolder(commonDir), `${id}.jsonl`);
}

/** For a run of which nothing came to be. */
export async function removeJournal(commonDir: string, id: string): Promise<void> {
  await rm(journalPath(commonDir, id), { force: true });
}
