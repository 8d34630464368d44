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
