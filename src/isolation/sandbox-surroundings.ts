import { mkdir, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ifAbsent } from "../git/tree-file.ts";
import { type Entry, hasReftable, type SandboxedRun, type Surroundings } from "./sandbox-rules.ts";

/** Each costs 0.2 ms for every command; by far the most of a history is in the largest ones. */
const PACKS_LIMIT = 40;

/** Folders of branches and of their logs. */
const HEADS = ["refs/heads", "logs/refs/heads"];

/** What git writes when there is nothing to pack. */
const NO_PACKED_REFS = "# pack-refs with: peeled fully-peeled sorted \n";

/**
 * Looks what is there, and makes what has to be: a rule is of use only for what exists, and git's housekeeping
 * removes folders of references that have become empty.
 *
 * @param checkouts the main worktree, which the common directory does not name, and the user's.
 */
export async function surroundings(run: SandboxedRun, checkouts: readonly string[]): Promise<Surroundings> {
  const { commonDir, gitDir, branch } = run;
  await makeMountPoints(run);
  const [commonEntries, linked, branches, packFiles, named] = await Promise.all([
    entries(commonDir),
    linkedWorktrees(commonDir, gitDir),
    Promise.all(HEADS.map((heads) => readdir(join(commonDir, heads, branch.folder)).catch(ifAbsent))),
    largestPacks(join(commonDir, "objects/pack")),
    existing(checkouts),
  ]);
  const own = [branch.name, `${branch.name}.lock`];
  return {
    checkouts: [...new Set([...named, ...linked])],
    commonEntries: commonEntries.filter(({ name }) => name !== "packed-refs"),
    otherBranches: [...new Set(branches.flatMap((names) => names ?? []))].filter((name) => !own.includes(name)),
    packFiles,
  };
}

async function makeMountPoints({ commonDir, branch }: SandboxedRun): Promise<void> {
  const reftable = hasReftable(await entries(commonDir));
  const branches = reftable ? [] : HEADS.map((heads) => join(heads, branch.folder));
  const folders = ["hooks", "info", ...branches];
  await Promise.all(folders.map((folder) => mkdir(join(commonDir, folder), { recursive: true })));
  if (!reftable) await writeFile(join(commonDir, "packed-refs"), NO_PACKED_REFS, { flag: "wx" }).catch(ifPresent);
}

async function entries(folder: string): Promise<Entry[]> {
  const found = await readdir(folder, { withFileTypes: true });
  const all = found.map(async (entry): Promise<Entry | undefined> => {
    if (!entry.isSymbolicLink()) return { name: entry.name };
    const target = await realpath(join(folder, entry.name)).catch(ifAbsent);
    return target === undefined ? undefined : { name: entry.name, target };
  });
  return (await Promise.all(all)).filter((entry) => entry !== undefined);
}

/** From git's own records: those of other runs too, and one that was added a moment ago. */
async function linkedWorktrees(commonDir: string, ownGitDir: string): Promise<string[]> {
  const folder = join(commonDir, "worktrees");
  const dirs = (await readdir(folder)).map((name) => join(folder, name)).filter((gitDir) => gitDir !== ownGitDir);
  const links = await Promise.all(
    dirs.map(async (gitDir) => {
      const text = await readFile(join(gitDir, "gitdir"), "utf8").catch(ifAbsent);
      return text === undefined ? [] : [dirname(resolve(gitDir, text.trimEnd()))];
    }),
  );
  return existing(links.flat());
}

/** Symbolic links resolved: rules are about what they lead to. */
async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(ifAbsent)));
  return real.filter((path) => path !== undefined);
}

/** Each pack is nothing without its index. */
async function largestPacks(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".pack"));
  const sizes = await Promise.all(
    names.map(async (name) => ({ name, size: (await stat(join(folder, name)).catch(ifAbsent))?.size ?? 0 })),
  );
  const largest = sizes.sort((a, b) => b.size - a.size).slice(0, PACKS_LIMIT);
  return largest.flatMap(({ name }) => [name, name.replace(/\.pack$/, ".idx")]);
}

function ifPresent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "EEXIST") return undefined;
  throw error;
}
