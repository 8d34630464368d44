import { lstat } from "node:fs/promises";
import { GitError } from "../git/git-error.ts";
import type { Repository } from "../git/repository.ts";
import { repositoryPlace } from "../git/rev-parse.ts";
import { type StatusEntry, status } from "../git/status.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { shownWorktreePath, type Worktree } from "../git/worktree-list.ts";

/** Entries of a working tree that differ from HEAD; one that is staged and edited again counts in both. */
export interface DirtyCounts {
  readonly staged: number;
  readonly unstaged: number;
  /** An untracked directory counts once. */
  readonly untracked: number;
  readonly unmerged: number;
}

export type Inspection =
  | { readonly kind: "present"; readonly dirty: DirtyCounts }
  | { readonly kind: "bare" }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly why: string };

/** Looks into one worktree. Whatever is wrong with it is an answer: no worktree hides the others. */
export async function inspectWorktree(repository: Repository, worktree: Worktree): Promise<Inspection> {
  if (worktree.bare) return { kind: "bare" };
  if (typeof shownWorktreePath(worktree) !== "string") return { kind: "unreadable", why: "its path is not UTF-8" };
  try {
    if ((await lstat(worktree.path).catch(ifAbsent)) === undefined) return { kind: "missing" };
    if (!worktree.readable) return { kind: "unreadable", why: "its HEAD is damaged" };
    const git = repository.at(worktree.path);
    const place = await repositoryPlace(git);
    // Without its `.git` file, git finds whatever repository the directory lies in.
    if (place.commonDir !== repository.commonDir || place.topLevel !== worktree.path) {
      return { kind: "unreadable", why: "the directory belongs to another repository" };
    }
    return { kind: "present", dirty: dirtyCounts(await status(git)) };
  } catch (error) {
    if (error instanceof GitError && error.command.exit.kind === "aborted") throw error;
    return { kind: "unreadable", why: error instanceof Error ? error.message : String(error) };
  }
}

export function dirtyCounts(entries: readonly StatusEntry[]): DirtyCounts {
  const tracked = entries.flatMap((entry) => (entry.kind === "changed" || entry.kind === "renamed" ? [entry.xy] : []));
  return {
    staged: tracked.filter((xy) => xy[0] !== ".").length,
    unstaged: tracked.filter((xy) => xy[1] !== ".").length,
    untracked: entries.filter(({ kind }) => kind === "untracked").length,
    unmerged: entries.filter(({ kind }) => kind === "unmerged").length,
  };
}
