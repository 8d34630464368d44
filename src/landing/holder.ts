import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RefName } from "../git/names.ts";
import { type LockFile, lockFiles, operationIn, rebasedBranch } from "../git/operation.ts";
import type { Repository } from "../git/repository.ts";
import { type WorktreeDirs, worktreeDirs } from "../git/rev-parse.ts";
import type { Worktree } from "../git/worktree-list.ts";
import { processesIn } from "../process/processes-in.ts";
import type { StopReason } from "./state.ts";

export type Holder =
  | { readonly kind: "held"; readonly worktree: Worktree; readonly dirs: WorktreeDirs }
  | { readonly kind: "free" }
  | { readonly kind: "refused"; readonly reason: StopReason };

/**
 * The worktree that has `target` checked out, if it is in a state in which its files may be moved on.
 *
 * A rebase that stopped in any worktree and will move `target` when it goes on counts as holding it, though
 * HEAD looks detached there.
 *
 * @param all the worktrees of the repository.
 */
export async function holderOf(repository: Repository, target: RefName, all: readonly Worktree[]): Promise<Holder> {
  const rebasing = await rebaseOf(repository, target, all);
  if (rebasing) return refused({ kind: "target-busy", operation: "rebase", worktree: rebasing.path });
  const holders = all.filter((worktree) => worktree.branch === target && !worktree.bare);
  const [worktree] = holders;
  if (worktree === undefined) return { kind: "free" };
  if (holders.length > 1) return refused({ kind: "held-twice", worktrees: holders.map(({ path }) => path) });

  const unreadable = (why: string) => refused({ kind: "holder-unreadable", worktree: worktree.path, why });
  if (worktree.locked !== undefined) return unreadable(`it is locked${worktree.locked && `: ${worktree.locked}`}`);
  const stats = await lstat(worktree.path).catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error) return unreadable(stats.code === "ENOENT" ? "its directory is missing" : stats.message);

  const dirs = await dirsOf(repository, worktree);
  const { gitDir, indexLock } = dirs;
  const operation = await operationIn(gitDir);
  if (operation) return refused({ kind: "target-busy", operation, worktree: worktree.path });
  const lock = await lastingLock([
    indexLock,
    join(gitDir, "HEAD.lock"),
    join(repository.commonDir, "packed-refs.lock"),
  ]);
  if (lock) {
    const running = (await processesIn(worktree.path, "git"))?.length;
    return refused({
      kind: "locked",
      file: lock.path,
      ageMs: lock.ageMs,
      running: running === undefined ? undefined : running > 0,
    });
  }
  return { kind: "held", worktree, dirs };
}

/** How long a lock may be there without being worth a word: another git's moment of work, in milliseconds. */
const MOMENT_MS = 1_000;

async function lastingLock(files: readonly string[]): Promise<LockFile | undefined> {
  const deadline = Date.now() + MOMENT_MS;
  for (;;) {
    const [lock] = await lockFiles(files);
    if (lock === undefined || Date.now() > deadline) return lock;
    await sleep(20);
  }
}

async function dirsOf(repository: Repository, { path }: Worktree): Promise<WorktreeDirs> {
  return path === repository.topLevel ? repository.dirs : worktreeDirs(repository.at(path));
}

function refused(reason: StopReason): Holder {
  return { kind: "refused", reason };
}

/** Layout of `worktrees/<id>/` as in gitrepository-layout(5). */
async function rebaseOf(repository: Repository, target: RefName, all: readonly Worktree[]) {
  const [main] = all;
  if (main && (await rebasedBranch(repository.commonDir)) === target) return main;
  const folder = join(repository.commonDir, "worktrees");
  const ids = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const id of ids) {
    if ((await rebasedBranch(join(folder, id))) !== target) continue;
    for (const worktree of all.filter((each) => !each.main && each.prunable === undefined)) {
      const { gitDir } = await dirsOf(repository, worktree);
      if (gitDir === join(folder, id)) return worktree;
    }
  }
  return undefined;
}
