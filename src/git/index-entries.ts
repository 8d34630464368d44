import type { Git } from "./git.ts";
import { type Oid, type TreePath, toOid } from "./names.ts";

export interface IndexEntry {
  readonly path: TreePath;
  readonly mode: string;
  readonly oid: Oid;
  /** 0, or 1 to 3 for an unmerged entry. */
  readonly stage: number;
}

export async function indexEntries(git: Git, env: NodeJS.ProcessEnv = {}): Promise<IndexEntry[]> {
  const output = await git(["ls-files", "--stage", "-z", "--full-name", "--", ":/"], { env });
  return output.records().map((record) => {
    const match = /^(\d{6}) ([0-9a-f]+) ([0-3])\t([\s\S]+)$/.exec(record);
    if (!match) throw new SyntaxError(`unknown index record: ${JSON.stringify(record)}`);
    const [, mode = "", oid = "", stage = "", path = ""] = match;
    return { path: path as TreePath, mode, oid: toOid(oid), stage: Number(stage) };
  });
}

/** Sets and removes index entries; git-update-index(1), "Using --index-info". @param info NUL-terminated, held as latin1. */
export async function readIndexInfo(git: Git, info: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await git(["update-index", "-z", "--index-info"], { stdin: Buffer.from(info, "latin1"), env });
}
