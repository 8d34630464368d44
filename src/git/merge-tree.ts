import type { Git } from "./git.ts";
import { type Oid, type TreePath, toOid } from "./names.ts";

export type MergeTree =
  | { readonly kind: "clean"; readonly tree: Oid }
  | { readonly kind: "conflicted"; readonly paths: readonly TreePath[] };

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
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const output = await git([...MERGE_CONFIG, ...args], { okCodes: [0, 1] });
  const [tree, ...paths] = output.records();
  if (tree === undefined) throw output.asError(); // git 2.39 also exits 1 for a missing commit, but prints no tree
  return output.code === 0 ? { kind: "clean", tree: toOid(tree) } : { kind: "conflicted", paths };
}
