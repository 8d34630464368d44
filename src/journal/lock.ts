import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nanoid } from "nanoid";
import { liveness, type Owner, thisOwner, toOwner } from "./owner.ts";

/** Another process is changing the repository. */
export class RepositoryBusyError extends Error {
  override readonly name = "RepositoryBusyError";
  readonly owner: Owner;

  constructor(owner: Owner, file: string) {
    super(`process ${owner.pid} on ${owner.host} is changing this repository (${file}); try again when it is done`);
    this.owner = owner;
  }
}

/** How long to wait for another process; a landing with hooks and a check may take minutes. */
const WAIT_MS = 10 * 60_000;
const POLL_MS = 50;

const queues = new Map<string, Promise<unknown>>();

export interface LockOptions {
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called once, when somebody else is at work and this call has to wait. */
  readonly onWait?: (() => void) | undefined;
}

/**
 * Runs `use` while no other call of this function does for the same repository, in this process or another.
 *
 * The lock of a process that died is taken over.
 *
 * @throws {RepositoryBusyError} when another process holds the lock for longer than `waitMs`.
 */
export async function withRepositoryLock<T>(
  commonDir: string,
  use: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const file = join(commonDir, "ultrathink", "lock");
  const before = queues.get(file);
  if (before !== undefined) options.onWait?.();
  const turn = (before ?? Promise.resolve()).then(async () => {
    await acquire(file, before === undefined ? options : { ...options, onWait: undefined });
    try {
      return await use();
    } finally {
      await unlink(file).catch(ignoreAbsent); // who deleted it by hand must not turn a success into an error
    }
  });
  const settled = turn.then(ignore, ignore).then(() => {
    if (queues.get(file) === settled) queues.delete(file);
  });
  queues.set(file, settled);
  return turn;
}

function ignore(): void {
  // whoever called for that turn is told
}

async function acquire(file: string, { waitMs = WAIT_MS, signal, onWait }: LockOptions): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const deadline = Date.now() + waitMs;
  const own = `${file}.${nanoid(10)}`;
  await writeFile(own, JSON.stringify(await thisOwner()));
  let told = false;
  try {
    for (;;) {
      // A link appears whole or not at all; `wx` would show an empty file to whoever reads it in between.
      if (await linked(own, file)) return;
      const owner = await holderOf(file);
      if (owner === undefined) continue;
      if ((await liveness(owner)) === "gone") await breakLock(file, owner);
      else if (Date.now() > deadline) throw new RepositoryBusyError(owner, file);
      else {
        if (!told) onWait?.();
        told = true;
        await sleep(POLL_MS, undefined, { signal });
      }
    }
  } finally {
    await unlink(own);
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  return link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

async function holderOf(file: string): Promise<Owner | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return toOwner(JSON.parse(text));
  } catch (cause) {
    // After a power failure a file can be there without its content.
    throw new Error(`${file} is damaged; delete it when no other process changes this repository`, { cause });
  }
}

/**
 * Removes the lock of a dead process. Only one process may do so at a time, and it looks again: without that,
 * the second of two would remove the lock that the first has just taken.
 */
async function breakLock(file: string, stale: Owner): Promise<void> {
  const breaker = `${file}.breaker`;
  const own = `${breaker}.${nanoid(10)}`;
  await writeFile(own, JSON.stringify(await thisOwner()));
  try {
    if (!(await linked(own, breaker))) {
      const other = await holderOf(breaker);
      if (other !== undefined && (await liveness(other)) === "gone") await unlink(breaker).catch(ignoreAbsent);
      await sleep(POLL_MS);
      return;
    }
    try {
      const now = await holderOf(file);
      if (now?.pid === stale.pid && now.start === stale.start && now.host === stale.host) await unlink(file);
    } finally {
      await unlink(breaker);
    }
  } finally {
    await unlink(own);
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
