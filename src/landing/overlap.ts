import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import type { TreeChange } from "../git/diff-tree.ts";
import type { Git } from "../git/git.ts";
import { hiddenEntries } from "../git/ls-files.ts";
import type { TreePath, WorktreePath } from "../git/names.ts";
import type { StatusEntry } from "../git/status.ts";
import { absolute, fileKind } from "../git/tree-file.ts";
import type { StopReason } from "./state.ts";

/**
 * What the holder has at the paths that a landing would change: the user's own edits, staged or not, and
 * files that git does not track. `undefined` when nothing is in the way.
 *
 * Ignored files are looked for on disk: `read-tree -m -u` overwrites them without a word (git 2.39).
 *
 * @param entries the holder's status, untracked files included.
 */
export async function obstacle(
  git: Git,
  worktree: WorktreePath,
  changes: readonly TreeChange[],
  entries: readonly StatusEntry[],
): Promise<StopReason | undefined> {
  const touched = new Set(changes.map(({ path }) => path));
  const edited = entries.filter(({ kind, path }) => kind !== "untracked" && kind !== "ignored" && touched.has(path));
  if (edited.length > 0) return { kind: "overlap", paths: edited.map(({ path }) => path), worktree };

  const hidden = (await hiddenEntries(git)).filter(({ path }) => touched.has(path));
  const present = await filterAsync(hidden, async ({ path }) => (await fileKind(worktree, path)) !== "absent");
  const [first] = present;
  if (first) {
    const paths = present.filter(({ bit }) => bit === first.bit).map(({ path }) => path);
    return { kind: "hidden-edit", paths, bit: first.bit, worktree };
  }

  const deleted = new Set(changes.filter(({ kind }) => kind === "deleted").map(({ path }) => path));
  const occupied = new Set<TreePath>();
  for (const { path, kind } of changes) {
    if (kind === "added") for (const found of await inTheWay(worktree, path, deleted)) occupied.add(found);
  }
  if (occupied.size === 0) return undefined;
  const paths = [...occupied];
  const untracked = new Set(entries.filter(({ kind }) => kind === "untracked").map(({ path }) => path));
  const known = paths.filter((path) => untracked.has(path) || isBelowAny(path, untracked));
  return known.length > 0
    ? { kind: "overlap", paths: known, worktree }
    : { kind: "would-overwrite-ignored", paths, worktree };
}

/** Files on disk that would have to go for `path` to be written, other than those the landing deletes. */
async function inTheWay(
  worktree: WorktreePath,
  path: TreePath,
  deleted: ReadonlySet<TreePath>,
): Promise<readonly TreePath[]> {
  for (const parent of parentsOf(path)) {
    const kind = await fileKind(worktree, parent);
    if (kind === "absent") return [];
    if (kind === "file") return deleted.has(parent) ? [] : [parent];
  }
  switch (await fileKind(worktree, path)) {
    case "absent":
      return [];
    case "file":
      return [path];
    case "directory":
      return (await filesBelow(worktree, path)).filter((file) => !deleted.has(file));
  }
}

function parentsOf(path: TreePath): TreePath[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/") as TreePath);
}

function isBelowAny(path: TreePath, folders: ReadonlySet<TreePath>): boolean {
  return parentsOf(path).some((parent) => folders.has(`${parent}/` as TreePath));
}

async function filesBelow(worktree: WorktreePath, folder: TreePath): Promise<TreePath[]> {
  const entries: Dirent<Buffer>[] = await readdir(absolute(worktree, folder), {
    withFileTypes: true,
    encoding: "buffer",
  });
  const files: TreePath[] = [];
  for (const entry of entries) {
    const path = `${folder}/${entry.name.toString("latin1")}` as TreePath;
    if (entry.isDirectory()) files.push(...(await filesBelow(worktree, path)));
    else files.push(path);
  }
  // An empty directory is removed by git; one that only holds empty ones as well.
  return files;
}

async function filterAsync<T>(items: readonly T[], keep: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(keep));
  return items.filter((_, index) => kept[index]);
}
