import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Git } from "../git/git.ts";
import type { WorktreePath } from "../git/names.ts";
import { lockFiles } from "../git/operation.ts";
import { worktreeDirs } from "../git/rev-parse.ts";
import { processesIn } from "../process/processes-in.ts";
import { HolderLockedError } from "./holder-index.ts";

/** How long a git of ours that outlived its parent may take to finish. */
const WAIT_MS = 20_000;
/** Where running processes cannot be listed: a lock this old is taken for dead. */
const OLD_MS = 60_000;

/**
 * Removes the `index.lock` that a build which died has left in its own worktree. Only a lock that no running git
 * can own is removed.
 *
 * @throws {HolderLockedError} when a git is at work there.
 */
export async function clearDeadLock(git: Git, bench: WorktreePath): Promise<void> {
  const { indexLock } = await worktreeDirs(git);
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const [lock] = await lockFiles([indexLock]);
    if (lock === undefined) return;
    const running = await processesIn(bench, "git");
    if (running === undefined ? lock.ageMs > OLD_MS : running.length === 0) {
      await rm(lock.path, { force: true });
      return;
    }
    if (Date.now() > deadline) throw new HolderLockedError(lock.path);
    await sleep(100);
  }
}
