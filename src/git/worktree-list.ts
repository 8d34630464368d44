import type { Git } from "./git.ts";
import {
  isOid,
  isZeroOid,
  type Oid,
  pathBytes,
  pathText,
  type RefName,
  type ShownPath,
  type TreePath,
  type WorktreePath,
} from "./names.ts";

export interface Worktree {
  /** Absolute path. One that is not UTF-8 reads `base64:…`, which no directory is called, and is not `readable`. */
  readonly path: WorktreePath;
  /** False when the path is not UTF-8, or HEAD is damaged. */
  readonly readable: boolean;
  /** The first entry that git lists. */
  readonly main: boolean;
  readonly bare: boolean;
  /** `undefined` on an unborn branch, in a bare repository, or when HEAD is damaged. */
  readonly head: Oid | undefined;
  /** `undefined` when HEAD is detached; `base64:…` when it is not UTF-8, which no reference is called. */
  readonly branch: RefName | undefined;
  /** The reason, possibly empty; `undefined` when the worktree is not locked. */
  readonly locked: string | undefined;
  /** Why git would prune it; `undefined` when it would not. */
  readonly prunable: string | undefined;
}

/** Before bytes that are not UTF-8: held as latin1 they would be the name of something else. */
const UNREADABLE = "base64:";

/** The path for JSON, exact in any case. */
export function shownWorktreePath({ path }: Worktree): ShownPath {
  return path.startsWith(UNREADABLE) ? { base64: path.slice(UNREADABLE.length) } : path;
}

/** Every worktree, the main one first. One damaged worktree does not hide the others. */
export async function worktrees(git: Git): Promise<Worktree[]> {
  const output = await git(["worktree", "list", "--porcelain", "-z"]);
  return parseWorktrees(output.bytes.toString("latin1"));
}

/**
 * Parses `git worktree list --porcelain -z` (git 2.36 or newer), held as latin1.
 *
 * @throws {SyntaxError} on text that is not a list of worktrees.
 */
export function parseWorktrees(text: string): Worktree[] {
  if (text === "") return [];
  if (!text.endsWith("\0\0")) throw new SyntaxError("worktree list is cut off");
  return text.slice(0, -2).split("\0\0").map(parseWorktree);
}

function parseWorktree(record: string, index: number): Worktree {
  const fields = new Map<string, string>();
  for (const line of record.split("\0")) {
    const space = line.indexOf(" ");
    fields.set(space < 0 ? line : line.slice(0, space), space < 0 ? "" : line.slice(space + 1));
  }
  const path = fields.get("worktree");
  if (path === undefined) throw new SyntaxError(`worktree record without a path: ${JSON.stringify(record)}`);
  const head = fields.get("HEAD");
  if (head !== undefined && !isOid(head)) throw new SyntaxError(`unknown HEAD of a worktree: ${JSON.stringify(head)}`);
  const bare = fields.has("bare");
  // For a HEAD that it cannot read git prints zeros, and no branch.
  const damaged = !bare && (head === undefined || (isZeroOid(head) && !fields.has("branch")));
  return {
    path: decoded(path) as WorktreePath,
    readable: pathText(path as TreePath) !== undefined && !damaged,
    main: index === 0,
    bare,
    head: head === undefined || isZeroOid(head) ? undefined : head,
    branch: decodedField(fields, "branch") as RefName | undefined,
    locked: decodedField(fields, "locked"),
    prunable: decodedField(fields, "prunable"),
  };
}

function decodedField(fields: ReadonlyMap<string, string>, name: string): string | undefined {
  const text = fields.get(name);
  return text === undefined ? undefined : decoded(text);
}

function decoded(text: string): string {
  const path = text as TreePath;
  return pathText(path) ?? `${UNREADABLE}${pathBytes(path).toString("base64")}`;
}
