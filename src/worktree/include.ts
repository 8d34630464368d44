import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { matchingFiles } from "../git/ls-files.ts";
import type { TreePath, WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { ifAbsent } from "../git/tree-file.ts";

/** At the top of a checkout: which ignored files a run gets a copy of, in the syntax of gitignore(5). */
export const INCLUDE_FILE = ".worktreeinclude";

/**
 * What in `checkout` git ignores and `.worktreeinclude` or `patterns` ask for. A directory, which ends in a slash, is
 * one that git ignores as such, and stands for all that is in it. Tracked files and merely untracked ones are never
 * among it.
 *
 * @param patterns outweigh those of the file.
 * @throws {GitError} when git cannot read `.worktreeinclude`.
 */
export async function includedPaths(
  repository: Repository,
  checkout: WorktreePath,
  patterns: readonly string[],
): Promise<TreePath[]> {
  const file = join(checkout, INCLUDE_FILE);
  const there = (await lstat(file).catch(ifAbsent)) !== undefined;
  if (!there && patterns.length === 0) return [];
  const git = repository.at(checkout);
  const [wanted, entries] = await Promise.all([
    matchingFiles(git, { patterns, file: there ? file : undefined }),
    status(git, { untracked: "all", ignored: true }),
  ]);
  const ignored = entries.filter(({ kind }) => kind === "ignored").map(({ path }) => path);
  return inBoth(wanted, ignored);
}

/** Paths in both lists, where a directory stands for all that is in it. */
function inBoth(one: readonly TreePath[], other: readonly TreePath[]): TreePath[] {
  const [first, second] = [new Set<string>(one), new Set<string>(other)];
  const both = new Set<string>([
    ...one.filter((path) => second.has(path) || isBelowAny(path, second)),
    ...other.filter((path) => isBelowAny(path, first)),
  ]);
  return [...both].filter((path) => !isBelowAny(path, both)) as TreePath[];
}

/** Whether a directory of `paths` holds `path`. */
function isBelowAny(path: string, paths: ReadonlySet<string>): boolean {
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    const folder = path.slice(0, slash + 1);
    if (folder !== path && paths.has(folder)) return true;
  }
  return false;
}
