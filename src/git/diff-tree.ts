import type { Git } from "./git.ts";
import type { Oid, TreePath } from "./names.ts";

export interface TreeChange {
  readonly path: TreePath;
  readonly kind: "added" | "deleted" | "modified";
  /** Modes and object names as `diff-tree --raw` prints them; zero for the missing side. */
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldOid: Oid;
  readonly newOid: Oid;
}

/** Paths that differ between two commits or trees. Renames are a deletion and an addition. */
export async function treeChanges(git: Git, from: Oid, to: Oid): Promise<TreeChange[]> {
  const output = await git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to]);
  return parseTreeChanges(output.records());
}

/** @throws {SyntaxError} on a record that git-diff-tree(1), "Raw output format", does not define. */
export function parseTreeChanges(records: readonly string[]): TreeChange[] {
  const changes: TreeChange[] = [];
  for (let i = 0; i < records.length; i += 2) {
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([ADMT])$/.exec(records[i] ?? "");
    const path = records[i + 1];
    if (!match || path === undefined) throw new SyntaxError(`unknown raw diff record: ${JSON.stringify(records[i])}`);
    const [, oldMode = "", newMode = "", oldOid = "", newOid = "", letter = ""] = match;
    const kind = letter === "A" ? "added" : letter === "D" ? "deleted" : "modified";
    changes.push({ path: path as TreePath, kind, oldMode, newMode, oldOid: oldOid as Oid, newOid: newOid as Oid });
  }
  return changes;
}
