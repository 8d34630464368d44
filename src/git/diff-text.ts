import type { Git } from "./git.ts";
import { type Oid, pathText, type TreePath } from "./names.ts";

export interface FileStat {
  readonly path: TreePath;
  /** `undefined` for a binary file. */
  readonly lines: { readonly added: number; readonly deleted: number } | undefined;
}

/** Lines that differ between two commits or trees, file by file. */
export async function fileStats(git: Git, from: Oid, to: Oid): Promise<FileStat[]> {
  const output = await git(["diff-tree", "-r", "-z", "--numstat", "--no-renames", from, to]);
  return output.records().map((record) => {
    const [added = "", deleted = "", ...path] = record.split("\t");
    const lines = added === "-" ? undefined : { added: Number(added), deleted: Number(deleted) };
    return { path: path.join("\t") as TreePath, lines };
  });
}

/** The textual difference of `paths`, without external diff programs and text conversions of the user's. */
export async function patch(git: Git, from: Oid, to: Oid, paths: readonly TreePath[]): Promise<string> {
  const named = paths.flatMap((path) => pathText(path) ?? []);
  if (named.length === 0) return "";
  const flags = ["-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
  const output = await git(["--literal-pathspecs", "diff-tree", ...flags, from, to, "--", ...named]);
  return output.bytes.toString("utf8"); // an excerpt to read: bytes that are no UTF-8 may be replaced
}
