import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RefName } from "./names.ts";
import { ifAbsent } from "./tree-file.ts";

/** What a worktree is in the middle of. */
export type Operation = "merge" | "cherry-pick" | "revert" | "rebase" | "am or rebase" | "sequencer" | "bisect";

/**
 * Files below a worktree's git directory, first match wins. `AUTO_MERGE` is not among them: git 2.39 and
 * 2.47 leave it behind after every finished rebase, cherry-pick and stash pop.
 */
const MARKERS: readonly (readonly [file: string, operation: Operation])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "am or rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "sequencer"],
  ["BISECT_LOG", "bisect"],
];

export async function operationIn(gitDir: string): Promise<Operation | undefined> {
  for (const [file, operation] of MARKERS) if (await exists(join(gitDir, file))) return operation;
  return undefined;
}

/** Branch that a stopped rebase in this worktree will move when it goes on; HEAD looks detached meanwhile. */
export async function rebasedBranch(gitDir: string): Promise<RefName | undefined> {
  for (const folder of ["rebase-merge", "rebase-apply"]) {
    const name = await readIfPresent(join(gitDir, folder, "head-name"));
    if (name?.startsWith("refs/heads/")) return name.trim() as RefName;
  }
  return undefined;
}

export interface LockFile {
  readonly path: string;
  readonly ageMs: number;
}

/** Lock files of this worktree that another git process holds, or left behind. */
export async function lockFiles(paths: readonly string[]): Promise<LockFile[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(path).catch(ifAbsent);
      return stats && { path, ageMs: Math.max(0, Date.now() - stats.mtimeMs) };
    }),
  );
  return found.filter((lock) => lock !== undefined);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifAbsent)) !== undefined;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(ifAbsent);
}
