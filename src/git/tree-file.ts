import { lstat } from "node:fs/promises";
import { pathBytes, type TreePath, type WorktreePath } from "./names.ts";

/** The path on disk, its bytes unchanged. */
export function absolute(worktree: WorktreePath, path: TreePath): Buffer {
  return Buffer.concat([Buffer.from(`${worktree}/`), pathBytes(path)]);
}

/** A symbolic link counts as a file, wherever it points. */
export async function fileKind(worktree: WorktreePath, path: TreePath): Promise<"absent" | "file" | "directory"> {
  const stats = await lstat(absolute(worktree, path)).catch(ifAbsent);
  if (stats === undefined) return "absent";
  return stats.isDirectory() ? "directory" : "file";
}

/** For `.catch`: no such file is an answer. */
export function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}
