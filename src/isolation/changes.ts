import type { Oid, RefName, TreePath } from "../git/names.ts";
import type { Fingerprint, Programs } from "./fingerprint.ts";

/** What is different in the user's checkout or in what all worktrees share. */
export type SharedChange =
  /** Files of the checkout: the user's own work, or a command's. */
  | { readonly kind: "files"; readonly paths: readonly TreePath[] }
  | { readonly kind: "switched"; readonly from: string | undefined; readonly to: string | undefined }
  | { readonly kind: "ref-added"; readonly ref: RefName; readonly to: Oid }
  | { readonly kind: "ref-moved"; readonly ref: RefName; readonly from: Oid; readonly to: Oid }
  | { readonly kind: "ref-deleted"; readonly ref: RefName; readonly from: Oid }
  /** A file that decides what git runs or sees; below the common directory. */
  | {
      readonly kind: "programs";
      readonly file: string;
      readonly before: Buffer | undefined;
      readonly after: Buffer | undefined;
    };

/** Changes of the files that decide what git runs. */
export function programChanges(before: Programs, after: Programs): SharedChange[] {
  const names = new Set([...before.files.keys(), ...after.files.keys()]);
  return [...names].flatMap((file) => {
    const [old, now] = [before.files.get(file), after.files.get(file)];
    const same = old === undefined || now === undefined ? old === now : old.equals(now);
    return same ? [] : [{ kind: "programs", file, before: old, after: now } as const];
  });
}

/**
 * What has changed from one fingerprint to the next, but for references that the run itself moves.
 *
 * @param own whether a reference is the run's.
 */
export function sharedChanges(before: Fingerprint, after: Fingerprint, own: (ref: RefName) => boolean): SharedChange[] {
  const changes = programChanges(before.programs, after.programs);
  if (before.branch !== after.branch) changes.push({ kind: "switched", from: before.branch, to: after.branch });
  const refs = new Set([...before.refs.keys(), ...after.refs.keys()]);
  for (const ref of refs) {
    const [from, to] = [before.refs.get(ref), after.refs.get(ref)];
    if (from === to || own(ref)) continue;
    if (from === undefined && to !== undefined) changes.push({ kind: "ref-added", ref, to });
    else if (from !== undefined && to === undefined) changes.push({ kind: "ref-deleted", ref, from });
    else if (from !== undefined && to !== undefined) changes.push({ kind: "ref-moved", ref, from, to });
  }
  // A commit or a switch changes every entry's state; the branch tells of it.
  const paths = before.head === after.head ? changedPaths(before, after) : [];
  if (paths.length > 0) changes.push({ kind: "files", paths });
  return changes;
}

function changedPaths({ entries: before }: Fingerprint, { entries: after }: Fingerprint): TreePath[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

/** Settings that make git run a program, or read more configuration. */
const PROGRAM_KEYS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|attributesfile|worktree)|filter\..*|merge\..*\.driver|diff\.external|diff\..*\.(?:command|textconv)|alias\..*|include\.path|includeif\..*|credential\..*|gpg\..*|sequence\.editor|uploadpack\..*|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|interactive\.difffilter|init\.templatedir)$/;

/** Settings that differ and that make git run programs, from two lists of `key\nvalue`. */
export function programSettings(
  before: readonly string[],
  after: readonly string[],
): { key: string; before: string | undefined; after: string | undefined }[] {
  const keys = new Set([...before, ...after].map(settingKey).filter((key) => PROGRAM_KEYS.test(key.toLowerCase())));
  return [...keys].flatMap((key) => {
    const [old, now] = [settingValue(before, key), settingValue(after, key)];
    return old === now ? [] : [{ key, before: old, after: now }];
  });
}

function settingKey(record: string): string {
  return record.split("\n", 1)[0] ?? "";
}

function settingValue(records: readonly string[], key: string): string | undefined {
  const values = records.filter((record) => settingKey(record) === key).map((record) => record.slice(key.length + 1));
  return values.length === 0 ? undefined : values.join("\n");
}
