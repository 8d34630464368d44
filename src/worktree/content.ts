import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import type { TreePath, WorktreePath } from "../git/names.ts";
import { absolute, ifAbsent } from "../git/tree-file.ts";

/** `absent`, {@link OTHER}, or git's mode and the object name that the bytes on disk would have, no filter applied. */
export type Content = string;

/** A directory (a repository of its own, where git lists it), a socket, a device. */
export const OTHER: Content = "other";

export function blobContent({ mode, oid }: { readonly mode: string; readonly oid: string }): Content {
  return `${mode} ${oid}`;
}

/** @param like whose hash to use: ends in an object name of the repository. */
export async function contentAt(worktree: WorktreePath, path: TreePath, like: string): Promise<Content> {
  const file = absolute(worktree, path);
  const stats = await lstat(file).catch(ifAbsent);
  if (stats === undefined) return "absent";
  if (!stats.isFile() && !stats.isSymbolicLink()) return OTHER;
  const hash = createHash(/[0-9a-f]{64}$/.test(like) ? "sha256" : "sha1").update(`blob ${stats.size}\0`);
  if (stats.isSymbolicLink()) {
    return blobContent({
      mode: "120000",
      oid: hash.update(await readlink(file, { encoding: "buffer" })).digest("hex"),
    });
  }
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return blobContent({ mode: stats.mode & 0o100 ? "100755" : "100644", oid: hash.digest("hex") });
}
