import { mkdtemp, readFile, rm, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TreeChange } from "../git/diff-tree.ts";
import type { Git } from "../git/git.ts";
import { indexEntries, readIndexInfo } from "../git/index-entries.ts";
import { pathBytes, type TreePath, type WorktreePath } from "../git/names.ts";
import { refreshIndex } from "../git/read-tree.ts";
import { absolute } from "../git/tree-file.ts";

export type Side = "old" | "new";

/**
 * Brings a holder whose files are a mix of two commits to one of them.
 *
 * A sync that was killed or that failed leaves some files old, some new, some missing and one cut off. A file
 * that is none of these is the user's, made since: it is kept, and shows as a modification.
 *
 * @param changes the paths that differ between the two commits; nothing else is touched.
 * @returns the paths kept because the user has changed them.
 */
export async function settleFiles(
  git: Git,
  worktree: WorktreePath,
  changes: readonly TreeChange[],
  goal: Side,
): Promise<TreePath[]> {
  const folder = await mkdtemp(join(tmpdir(), "ultratree-settle-"));
  try {
    const other: Side = goal === "old" ? "new" : "old";
    const matches = {
      old: await matching(git, folder, changes, "old"),
      new: await matching(git, folder, changes, "new"),
    };
    const kept: TreePath[] = [];
    const writes: TreeChange[] = [];
    for (const change of changes) {
      if (matches[goal].has(change.path)) continue;
      if (matches[other].has(change.path) || (await isUnfinished(git, worktree, change))) writes.push(change);
      else kept.push(change.path);
    }
    for (const change of writes) if (isAbsent(change, goal)) await removeFile(worktree, change.path);
    await checkOut(git, folder, writes, goal);
    return kept;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isAbsent(change: TreeChange, side: Side): boolean {
  return change.kind === (side === "old" ? "added" : "deleted");
}

function entryInfo(change: TreeChange, side: Side): string {
  const [mode, oid] = side === "old" ? [change.oldMode, change.oldOid] : [change.newMode, change.newOid];
  return `${mode === "000000" ? "0" : mode} ${oid}\t${change.path}\0`;
}

/** Paths whose file is, to git's eyes (filters, line ends, modes), what that side has. */
async function matching(git: Git, folder: string, changes: readonly TreeChange[], side: Side) {
  const env = { GIT_INDEX_FILE: join(folder, `match-${side}`) };
  const present = changes.filter((change) => !isAbsent(change, side));
  await readIndexInfo(git, present.map((change) => entryInfo(change, side)).join(""), env);
  await refreshIndex(git, env);
  const output = await git(["diff-files", "-z", "--name-only", "--no-renames"], { env });
  const differing = new Set(output.records());
  const untracked = await git(["ls-files", "-z", "--others", "--full-name", "--", ":/"], { env });
  const onDisk = new Set(untracked.records());
  const same = changes.filter((change) =>
    isAbsent(change, side) ? !onDisk.has(change.path) : !differing.has(change.path),
  );
  return new Set(same.map(({ path }) => path));
}

/** Gone, or the beginning of the new content: git writes a file in place, so a kill cuts it off. */
async function isUnfinished(git: Git, worktree: WorktreePath, change: TreeChange): Promise<boolean> {
  const content = await readFile(absolute(worktree, change.path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (content === undefined) return true;
  if (isAbsent(change, "new")) return false;
  const args = ["cat-file", "--filters", `--path=${pathBytes(change.path).toString("utf8")}`, change.newOid];
  const whole = await git(args);
  return whole.bytes.subarray(0, content.length).equals(content);
}

async function removeFile(worktree: WorktreePath, path: TreePath): Promise<void> {
  await unlink(absolute(worktree, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    const gone = await rmdir(absolute(worktree, parent as TreePath)).then(
      () => true,
      () => false, // not empty: it stays
    );
    if (!gone) break;
  }
}

async function checkOut(git: Git, folder: string, writes: readonly TreeChange[], goal: Side): Promise<void> {
  const present = writes.filter((change) => !isAbsent(change, goal));
  if (present.length === 0) return;
  const env = { GIT_INDEX_FILE: join(folder, "write") };
  await readIndexInfo(git, present.map((change) => entryInfo(change, goal)).join(""), env);
  await git(["checkout-index", "--all", "--force", "--quiet"], { env });
}

/** Sets the index entries of `changes`; those that the user has staged since are left as they are. */
export async function settleEntries(
  git: Git,
  changes: readonly TreeChange[],
  goal: Side,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const now = new Map((await indexEntries(git, env)).map((entry) => [entry.path, entry]));
  const ours = changes.filter(({ path, oldOid, newOid, kind }) => {
    const entry = now.get(path);
    if (entry === undefined) return kind !== "modified";
    return entry.oid === oldOid || entry.oid === newOid;
  });
  await readIndexInfo(git, ours.map((change) => entryInfo(change, goal)).join(""), env);
  await refreshIndex(git, env);
}
