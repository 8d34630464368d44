import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { refTips } from "../git/for-each-ref.ts";
import type { Oid, RefName, TreePath, WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { parseStatus, type StatusEntry, statusText } from "../git/status.ts";
import { absolute, ifAbsent } from "../git/tree-file.ts";

/** What decides which programs git runs in every worktree. Read from files alone: no git has run for it. */
export interface Programs {
  /** Contents by path below the common directory: configuration, attributes, excludes, and every hook. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** The user's checkout and what all worktrees share, as far as a run must not change it. */
export interface Fingerprint {
  readonly programs: Programs;
  readonly head: Oid | undefined;
  readonly branch: string | undefined;
  /** Every path that differs from HEAD, is untracked or ignored, with its state and its file's identity. */
  readonly entries: ReadonlyMap<TreePath, string>;
  readonly refs: ReadonlyMap<RefName, Oid>;
}

const SHARED_FILES = ["config", "config.worktree", "info/attributes", "info/exclude", "info/grafts"];

export async function programs(commonDir: string): Promise<Programs> {
  const hooks = (await readdir(join(commonDir, "hooks")).catch(ifAbsent)) ?? [];
  const names = [...SHARED_FILES, ...hooks.filter((name) => !name.endsWith(".sample")).map((name) => `hooks/${name}`)];
  const contents = await Promise.all(
    names.map(async (name) => {
      const path = join(commonDir, name);
      const stats = await lstat(path).catch(ifAbsent);
      return stats?.isFile() ? ([name, await readFile(path)] as const) : undefined;
    }),
  );
  return { files: new Map(contents.filter((each) => each !== undefined)) };
}

/**
 * Costs one `git status` and one `git for-each-ref`, and an `lstat` for each path that differs: contents are
 * told by size, times and inode, as git's own index does it.
 */
export async function fingerprint(repository: Repository, checkout: WorktreePath): Promise<Fingerprint> {
  const found = await programs(repository.commonDir);
  const git = repository.at(checkout);
  const [text, tips] = await Promise.all([
    statusText(git, { untracked: "all", ignored: true }),
    refTips(git, ["refs/"]),
  ]);
  const { head, branch, entries } = parseStatus(text);
  const records = text.split("\0").filter((record) => record !== "" && !record.startsWith("#")); // one for each entry
  const identified = await Promise.all(
    entries.map(async (entry, index) => [entry.path, await identity(checkout, entry, records[index] ?? "")] as const),
  );
  return {
    programs: found,
    head,
    branch,
    entries: new Map(identified),
    refs: new Map(tips.map(({ ref, oid }) => [ref, oid])),
  };
}

/** Its state in the index, with object names, and which file it is. */
async function identity(checkout: WorktreePath, { kind, path }: StatusEntry, record: string): Promise<string> {
  if (kind === "ignored") return record;
  const stats = await lstat(absolute(checkout, path), { bigint: true }).catch(ifAbsent);
  if (stats === undefined) return `${record} absent`;
  return `${record} ${stats.mode} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`;
}
