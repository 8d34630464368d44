import { unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Git } from "../git/git.ts";
import type { WorktreePath } from "../git/names.ts";
import { lockFiles } from "../git/operation.ts";
import { worktreeDirs } from "../git/rev-parse.ts";
import { processesIn } from "../process/processes-in.ts";

/** A git process of somebody's is at work in the holder. */
export class HolderLockedError extends Error {
  override readonly name = "HolderLockedError";
  readonly file: string;

  constructor(file: string) {
    super(`${file} is held by a git process that is at work; try again when it is done`);
    this.file = file;
  }
}

/** How long a git of ours that outlived its parent may take to finish. */
const WAIT_MS = 20_000;
/** Where running processes cannot be listed: a lock this old is taken for dead. */
const OLD_MS = 60_000;

/**
 * Removes the `index.lock` that a landing which died in the middle of its sync has left in `holder`.
 *
 * Only called for such a landing, and only a lock that no running git can own is removed.
 *
 * @returns the lock removed, if there was one.
 * @throws {HolderLockedError} when a git is at work there.
 */
export async function clearDeadLock(git: Git, holder: WorktreePath): Promise<string | undefined> {
  const { indexLock } = await worktreeDirs(git);
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const [lock] = await lockFiles([indexLock]);
    if (lock === undefined) return undefined;
    const running = await processesIn(holder, "git");
    if (running === undefined ? lock.ageMs > OLD_MS : running.length === 0) {
      await unlink(lock.path);
      return lock.path;
    }
    if (Date.now() > deadline) throw new HolderLockedError(lock.path);
    await sleep(100);
  }
}
