import type { Git } from "./git.ts";
import type { TreePath } from "./names.ts";

/** An index entry whose working tree file git was told not to look at. */
export interface HiddenEntry {
  readonly path: TreePath;
  readonly bit: "assume-unchanged" | "skip-worktree";
}

/** Entries under assume-unchanged or skip-worktree: `status` does not show what changed there. */
export async function hiddenEntries(git: Git): Promise<HiddenEntry[]> {
  const output = await git(["ls-files", "-v", "-z"]);
  const entries: HiddenEntry[] = [];
  for (const record of output.records()) {
    const tag = record[0] ?? "";
    const path = record.slice(2) as TreePath;
    if (tag === "S") entries.push({ path, bit: "skip-worktree" });
    else if (/[a-z]/.test(tag)) entries.push({ path, bit: "assume-unchanged" });
  }
  return entries;
}

/** Rules in the syntax of gitignore(5). */
export interface IgnoreRules {
  /** Outweigh those of `file`. */
  readonly patterns: readonly string[];
  /** Absolute path. */
  readonly file: string | undefined;
}

/**
 * Untracked files that `rules` match, ignored ones included, relative to the top of the worktree. A directory with
 * nothing else in it ends in a slash and stands for all of them, which may be listed as well.
 */
export async function matchingFiles(git: Git, { patterns, file }: IgnoreRules): Promise<TreePath[]> {
  const rules = patterns.map((pattern) => `--exclude=${pattern}`);
  if (file !== undefined) rules.push(`--exclude-from=${file}`);
  const output = await git(["ls-files", "-z", "--others", "--ignored", "--directory", ...rules]);
  return output.records();
}
