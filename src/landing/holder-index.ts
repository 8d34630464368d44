import { copyFile, link, open, readFile, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { lockFiles } from "../git/operation.ts";
import type { WorktreeDirs } from "../git/rev-parse.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { processesWithVariable } from "../process/processes-with-variable.ts";

/**
 * A holder's index, locked as git itself locks it, and a copy of it to work on.
 *
 * Between the move of the branch and that of the index, a commit by anybody would take the landing back. With
 * `index.lock` held no git commits: it says that the file exists, as it does beside any other git.
 */
export interface LockedIndex {
  /** For the git commands that work on the copy. */
  readonly env: { readonly GIT_INDEX_FILE: string };
  /** Makes the copy the index. */
  publish(): Promise<void>;
  /** Gives the index back, as it is. */
  release(): Promise<void>;
}

export type IndexLock =
  | { readonly kind: "locked"; readonly index: LockedIndex }
  | { readonly kind: "held-by-another"; readonly file: string; readonly ageMs: number };

/** A git process of somebody's is at work in the holder. */
export class HolderLockedError extends Error {
  override readonly name = "HolderLockedError";
  readonly file: string;

  constructor(file: string) {
    super(`${file} is held by a git process that is at work; try again when it is done`);
    this.file = file;
  }
}

/** How long another git may hold the index; an editor that waits for a commit message holds it for longer. */
const WAIT_MS = 5_000;
const POLL_MS = 20;

/** @param landing id; it is written into the lock, so that a crash leaves no doubt whose it was. */
export async function lockIndex(dirs: WorktreeDirs, landing: string): Promise<IndexLock> {
  const files = filesOf(dirs, landing);
  const deadline = Date.now() + WAIT_MS;
  while (!(await tryLock(files, landing))) {
    const [lock] = await lockFiles([files.lock]);
    if (lock && Date.now() > deadline) return { kind: "held-by-another", file: lock.path, ageMs: lock.ageMs };
    await sleep(POLL_MS);
  }
  await copyFile(files.index, files.copy).catch(ifAbsent); // there is none before the first checkout
  return {
    kind: "locked",
    index: {
      env: { GIT_INDEX_FILE: files.copy },
      publish: () => rename(files.copy, files.index),
      release: () => removeAll([files.copy, `${files.copy}.lock`, files.lock]),
    },
  };
}

interface IndexFiles {
  readonly index: string;
  readonly lock: string;
  readonly copy: string;
}

function filesOf({ indexLock }: WorktreeDirs, landing: string): IndexFiles {
  const index = indexLock.slice(0, -".lock".length);
  return { index, lock: indexLock, copy: `${index}.ultrathink-${landing}` };
}

function mark(landing: string): string {
  return `ultrathink landing ${landing}\n`;
}

/** The lock appears with its content: a link is made whole or not at all. */
async function tryLock({ lock, copy }: IndexFiles, landing: string): Promise<boolean> {
  const prepared = `${copy}.prepared`;
  const file = await open(prepared, "w");
  try {
    await file.writeFile(mark(landing));
  } finally {
    await file.close();
  }
  try {
    await link(prepared, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(prepared, { force: true });
  }
}

/** How long a git that outlived the landing which started it may take to end. */
const ORPHAN_MS = 30_000;

/**
 * Removes what a landing that died has left of its lock. A lock of anybody else's stays.
 *
 * @returns the lock file removed, if there was one.
 */
export async function clearOwnLock(dirs: WorktreeDirs, landing: string): Promise<string | undefined> {
  const files = filesOf(dirs, landing);
  const deadline = Date.now() + ORPHAN_MS;
  while (Date.now() < deadline && (await processesWithVariable("GIT_INDEX_FILE", files.copy)).length > 0) {
    await sleep(POLL_MS);
  }
  const content = await readFile(files.lock, "utf8").catch(ifAbsent);
  const own = content === mark(landing);
  await removeAll([files.copy, `${files.copy}.lock`, `${files.copy}.prepared`, ...(own ? [files.lock] : [])]);
  return own ? files.lock : undefined;
}

/** One after the other: the lock goes last. */
async function removeAll(files: readonly string[]): Promise<void> {
  for (const file of files) await rm(file, { force: true });
}
