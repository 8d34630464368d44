declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** Full object name, SHA-1 or SHA-256. */
export type Oid = Branded<string, "Oid">;
/** Short name of a local branch: `topic/x`. */
export type BranchName = Branded<string, "BranchName">;
/** Full reference name: `refs/heads/topic/x`. */
export type RefName = Branded<string, "RefName">;
/** Absolute path of a worktree's top directory. */
export type WorktreePath = Branded<string, "WorktreePath">;
/**
 * A path relative to the top of a tree, one UTF-16 unit per byte (latin1).
 *
 * Git's paths are bytes. Held this way they survive a journal, a set and a comparison unchanged; convert
 * with {@link pathBytes} for the file system and {@link pathText} for people.
 */
export type TreePath = Branded<string, "TreePath">;

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isOid(text: string): text is Oid {
  return OID.test(text);
}

/** @throws {TypeError} unless `text` is a full object name. */
export function toOid(text: string): Oid {
  if (!isOid(text)) throw new TypeError(`not a full object name: ${JSON.stringify(text)}`);
  return text;
}

export function isZeroOid(oid: Oid): boolean {
  return /^0+$/.test(oid);
}

/** Longest branch name that still leaves room for `.lock` in one file name. */
const BRANCH_NAME_LIMIT = 240;

/**
 * Rules of git-check-ref-format(1), and stricter where git would read the text as something else: an
 * option, an object name, `@{-1}`, a full reference.
 *
 * @throws {TypeError} naming the rule that `text` breaks.
 */
export function toBranchName(text: string): BranchName {
  const problem = branchNameProblem(text);
  if (problem !== undefined) throw new TypeError(`${JSON.stringify(text)} is not a branch name: ${problem}`);
  return text as BranchName;
}

function branchNameProblem(text: string): string | undefined {
  if (text === "") return "it is empty";
  if (/\p{Cs}/u.test(text)) return "it is not valid Unicode text"; // on its way to git it would become another name
  if (Buffer.byteLength(text) > BRANCH_NAME_LIMIT) return `it is longer than ${BRANCH_NAME_LIMIT} bytes`;
  if (text.startsWith("-")) return "it starts with a dash";
  if (text === "HEAD" || text === "@") return "git reads it as the current commit";
  if (text.startsWith("refs/")) return "write the short name, without refs/";
  if (OID.test(text)) return "git reads it as an object name";
  if (text.includes("@{")) return "git reads @{ as a reflog expression";
  if (text.includes("..")) return "it contains ..";
  if (/[ ~^:?*[\\]/.test(text) || hasControlCharacter(text)) return "it contains a character that git does not allow";
  if (text.endsWith(".")) return "it ends with a dot";
  for (const component of text.split("/")) {
    if (component === "") return "it has an empty component";
    if (component.startsWith(".")) return "a component starts with a dot";
    if (component.endsWith(".lock")) return "a component ends with .lock";
  }
  return undefined;
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

export function branchRef(branch: BranchName): RefName {
  return `refs/heads/${branch}` as RefName;
}

/** The branch of a `refs/heads/…` name; `undefined` for any other reference. */
export function refBranch(ref: string): BranchName | undefined {
  return ref.startsWith("refs/heads/") ? (ref.slice("refs/heads/".length) as BranchName) : undefined;
}

/** @throws {TypeError} unless `text` is a reference name below `refs/`. */
export function toRefName(text: string): RefName {
  const rest = text.startsWith("refs/") ? text.slice("refs/".length) : "";
  const problem = branchNameProblem(rest);
  if (problem !== undefined) throw new TypeError(`${JSON.stringify(text)} is not a reference name: ${problem}`);
  return text as RefName;
}

/** @throws {TypeError} unless `path` is absolute. Existence is not checked. */
export function toWorktreePath(path: string): WorktreePath {
  if (!path.startsWith("/") && !/^[A-Za-z]:[\\/]/.test(path)) throw new TypeError(`not an absolute path: ${path}`);
  return path as WorktreePath;
}

export function treePath(bytes: Buffer): TreePath {
  return bytes.toString("latin1") as TreePath;
}

export function pathBytes(path: TreePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** The path as text, or `undefined` when its bytes are not UTF-8. */
export function pathText(path: TreePath): string | undefined {
  const bytes = pathBytes(path);
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}

/** A path on one line of text: control characters would move the cursor or break the line. */
export function readablePath(path: TreePath): string {
  const text = pathText(path);
  return text === undefined || /\p{Cc}/u.test(text) ? JSON.stringify(text ?? path) : text;
}

/** A path for JSON: text where the bytes are UTF-8, else base64, never a replacement character. */
export type ShownPath = string | { readonly base64: string };

export function shownPath(path: TreePath): ShownPath {
  return pathText(path) ?? { base64: pathBytes(path).toString("base64") };
}
