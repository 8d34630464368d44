import type { Git } from "./git.ts";
import { isOid, type Oid, pathText, type TreePath } from "./names.ts";

export type StatusEntry =
  | {
      readonly kind: "changed";
      readonly xy: string;
      readonly path: TreePath;
      /** What HEAD has there; zeros when it has nothing. */
      readonly head: { readonly mode: string; readonly oid: string };
    }
  | { readonly kind: "renamed"; readonly xy: string; readonly path: TreePath; readonly from: TreePath }
  | { readonly kind: "unmerged"; readonly xy: string; readonly path: TreePath }
  | { readonly kind: "untracked"; readonly path: TreePath }
  | { readonly kind: "ignored"; readonly path: TreePath };

export interface StatusOptions {
  /** `normal` names an untracked directory once, `all` every file in it. */
  readonly untracked?: "no" | "normal" | "all";
  readonly ignored?: boolean;
  /** Only these; the whole tree when they are too many, or not text, for a command line. */
  readonly paths?: readonly TreePath[];
  /** An index of ours, into which git may write what it learns about unchanged files. */
  readonly refreshed?: { readonly GIT_INDEX_FILE: string };
}

/** Bytes of pathspecs on a command line; Linux allows 128 KiB for one argument and 2 MiB in all. */
const PATHSPEC_LIMIT = 64 * 1024;

export interface Status {
  readonly entries: readonly StatusEntry[];
  /** `undefined` on an unborn branch. */
  readonly head: Oid | undefined;
  /** Short name; `undefined` when HEAD is detached, or the name is not UTF-8. */
  readonly branch: string | undefined;
}

/** Entries of the working tree that differ from HEAD, untracked ones included, and HEAD. Renames are not detected. */
export async function statusAndHead(git: Git, options: StatusOptions = {}): Promise<Status> {
  return parseStatus(await statusText(git, options));
}

/** What {@link parseStatus} reads, held as latin1: with modes and object names, for comparing. */
export async function statusText(git: Git, options: StatusOptions = {}): Promise<string> {
  const { untracked = "normal", ignored = false, paths, refreshed } = options;
  const args = ["--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames", "--ignore-submodules=none"];
  const show = [`--untracked-files=${untracked}`, `--ignored=${ignored ? "matching" : "no"}`];
  const output = await git(["--literal-pathspecs", "status", ...args, ...show, ...pathspecs(paths)], {
    env: refreshed === undefined ? {} : { ...refreshed, GIT_OPTIONAL_LOCKS: "1" },
  });
  return output.bytes.toString("latin1");
}

export async function status(git: Git, options: StatusOptions = {}): Promise<readonly StatusEntry[]> {
  return (await statusAndHead(git, options)).entries;
}

function pathspecs(paths: readonly TreePath[] | undefined): string[] {
  if (paths === undefined || paths.length === 0) return [];
  const texts = paths.map(pathText).filter((text) => text !== undefined);
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  return texts.length < paths.length || size > PATHSPEC_LIMIT ? [] : ["--", ...texts];
}

/** Space-separated fields before the path, by record type. See git-status(1), "Porcelain Format Version 2". */
const FIELDS = { "1": 8, "2": 9, u: 10, "?": 1, "!": 1 } as const;

/** @throws {SyntaxError} on a record this version of the format does not define. */
export function parseStatus(stdout: string): Status {
  const entries: StatusEntry[] = [];
  const headers = new Map<string, string>();
  const records = stdout.split("\0").slice(0, -1).values();
  for (const record of records) {
    const type = record[0] ?? "";
    if (type === "#") {
      const [, key = "", value = ""] = /^# (\S+) (.*)$/.exec(record) ?? [];
      headers.set(key, value);
      continue;
    }
    if (!isRecordType(type)) throw new SyntaxError(`unknown status record: ${JSON.stringify(record)}`);
    const { fields, path } = splitFields(record, FIELDS[type]);
    const xy = fields[1] ?? "";
    switch (type) {
      case "1":
        entries.push({ kind: "changed", xy, path, head: { mode: fields[3] ?? "", oid: fields[6] ?? "" } });
        break;
      case "u":
        entries.push({ kind: "unmerged", xy, path });
        break;
      case "?":
        entries.push({ kind: "untracked", path });
        break;
      case "!":
        entries.push({ kind: "ignored", path });
        break;
      case "2": {
        const from = records.next(); // with -z the source path is a record of its own
        if (from.done) throw new SyntaxError("rename record without a source path");
        entries.push({ kind: "renamed", xy, path, from: from.value as TreePath });
      }
    }
  }
  const branch = headers.get("branch.head");
  return {
    entries,
    head: parseHead(headers.get("branch.oid")),
    branch: branch === undefined || branch === "(detached)" ? undefined : pathText(branch as TreePath),
  };
}

function parseHead(text: string | undefined): Oid | undefined {
  if (text === undefined || text === "(initial)") return undefined;
  if (!isOid(text)) throw new SyntaxError(`unknown HEAD in status: ${JSON.stringify(text)}`);
  return text;
}

function isRecordType(type: string): type is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, type);
}

/** The path is the rest of the record: it may contain spaces and newlines. */
function splitFields(record: string, count: number): { fields: string[]; path: TreePath } {
  const fields: string[] = [];
  let rest = record;
  for (let i = 0; i < count; i++) {
    const space = rest.indexOf(" ");
    if (space < 0) throw new SyntaxError(`truncated status record: ${JSON.stringify(record)}`);
    fields.push(rest.slice(0, space));
    rest = rest.slice(space + 1);
  }
  if (rest === "") throw new SyntaxError(`status record without a path: ${JSON.stringify(record)}`);
  return { fields, path: rest as TreePath };
}
