import type { TreePath, WorktreePath } from "../git/names.ts";
import type { StatusEntry } from "../git/status.ts";
import { blobContent, type Content, contentAt, OTHER } from "./content.ts";

/** What a run's worktree was like before its agent saw it. */
export interface Birth {
  /** Ignored files of the user's checkout that were copied in; a directory ends in a slash. */
  readonly copied: readonly TreePath[];
  /** What differed from HEAD, by the set-up command, and how. */
  readonly dirty: readonly (readonly [TreePath, Content])[];
}

export interface Changes {
  /** Somebody's work. */
  readonly work: readonly StatusEntry[];
  /** Differs from HEAD, and is still as git checked it out, or as it was when the worktree was made. */
  readonly untouched: readonly TreePath[];
  /** Copied in, and ignored no longer; directories end in a slash. */
  readonly copied: readonly TreePath[];
  /** Of what was copied in, files that somebody has staged nevertheless. */
  readonly stagedCopies: readonly TreePath[];
}

/**
 * Sorts what `git status` shows by who made it.
 *
 * A file can be modified from birth: committed with CRLF where attributes ask for LF, or whole where they ask for a
 * pointer to it, it differs from what `git add` would make of it. Nobody did that during the run. What was staged
 * since was staged by somebody.
 */
export async function changesIn(
  worktree: WorktreePath,
  entries: readonly StatusEntry[],
  born: Birth = { copied: [], dirty: [] },
): Promise<Changes> {
  const dirty = new Map<string, Content>(born.dirty);
  const work: StatusEntry[] = [];
  const untouched: TreePath[] = [];
  const copied = new Set<TreePath>();
  const stagedCopies: TreePath[] = [];
  for (const entry of entries) {
    if (entry.kind === "ignored") continue;
    const copy = isNew(entry) ? born.copied.find((each) => covers(each, entry.path)) : undefined;
    if (copy !== undefined) {
      copied.add(copy);
      if (entry.kind === "changed") stagedCopies.push(entry.path);
    } else if (await isUntouched(worktree, entry, dirty)) untouched.push(entry.path);
    else work.push(entry);
  }
  return { work, untouched, copied: [...copied], stagedCopies };
}

function covers(copy: TreePath, path: TreePath): boolean {
  return path === copy || (copy.endsWith("/") && path.startsWith(copy));
}

function isNew(entry: StatusEntry): boolean {
  return entry.kind === "untracked" || (entry.kind === "changed" && /^0+$/.test(entry.head.mode));
}

async function isUntouched(
  worktree: WorktreePath,
  entry: StatusEntry,
  dirty: ReadonlyMap<string, Content>,
): Promise<boolean> {
  const before = dirty.get(entry.path);
  const checkedOut = entry.kind === "changed" && entry.xy === ".M" ? blobContent(entry.head) : undefined;
  if (before === undefined && checkedOut === undefined) return false;
  const now = await contentAt(worktree, entry.path, before ?? checkedOut ?? "");
  return now !== OTHER && (now === before || now === checkedOut);
}
