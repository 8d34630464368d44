import type { Git } from "./git.ts";
import { type Oid, type TreePath, toOid } from "./names.ts";

export type MergeTree =
  | { readonly kind: "clean"; readonly tree: Oid }
  | {
      readonly kind: "conflicted";
      readonly paths: readonly TreePath[];
      /** git's names for what kind of conflict they are, such as `rename/rename`; `contents` is the usual one. */
      readonly types: readonly string[];
      /** What merge drivers of the user's, or git about them, have said. */
      readonly output: string;
    };

/** Rename detection as git ships it, whatever the user's config says; the same input gives the same tree everywhere. */
const MERGE_CONFIG = Object.entries({
  "merge.renames": "true",
  "merge.directoryRenames": "conflict",
  "merge.renormalize": "false",
  "merge.conflictStyle": "merge",
}).flatMap(([key, value]) => ["-c", `${key}=${value}`]);

/**
 * Merges two commits in the object database. No ref, index, or working tree changes.
 *
 * A conflict is a result, not an error. Needs git 2.38 (`merge-tree --write-tree`).
 *
 * @throws {GitError} `unknown-revision` when a commit is missing.
 */
export async function mergeTree(git: Git, ours: Oid, theirs: Oid): Promise<MergeTree> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs];
  const output = await git([...MERGE_CONFIG, ...args], { okCodes: [0, 1] });
  const [tree, ...records] = output.records();
  if (tree === undefined) throw output.asError(); // git 2.39 also exits 1 for a missing commit, but prints no tree
  if (output.code === 0) return { kind: "clean", tree: toOid(tree) };
  const end = records.indexOf("" as TreePath); // an empty record separates the paths from the messages
  const paths = end < 0 ? records : records.slice(0, end);
  return {
    kind: "conflicted",
    paths: [...new Set(paths.map((path) => withoutSide(path, ours, theirs)))],
    types: end < 0 ? [] : conflictTypes(records.slice(end + 1)),
    output: output.stderr.trim(),
  };
}

/** Where both sides cannot keep a path, git names one `path~commit`. */
function withoutSide(path: TreePath, ours: Oid, theirs: Oid): TreePath {
  const side = [ours, theirs].find((oid) => path.endsWith(`~${oid}`));
  return side === undefined ? path : (path.slice(0, -side.length - 1) as TreePath);
}

/** Messages are `count, paths…, type, text`; see git-merge-tree(1), "Informational messages". */
function conflictTypes(records: readonly TreePath[]): string[] {
  const types = new Set<string>();
  for (let i = 0; i < records.length; ) {
    const type = i + Number(records[i]) + 1;
    const name = /^CONFLICT \((.+)\)$/.exec(records[type] ?? "")?.[1];
    if (name !== undefined) types.add(name);
    i = type + 2;
  }
  return [...types];
}
