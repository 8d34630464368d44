import { join } from "node:path";

/** About a file, or a folder with all below it. Later rules override earlier ones. */
export interface Rule {
  /**
   * `locks` is for the common directory: git may lock `packed-refs` there, which it does to delete a reference, and
   * nothing else.
   */
  readonly access: "read" | "write" | "locks";
  /** Symbolic links resolved. */
  readonly path: string;
  /** The symbolic link in the common directory that leads to `path`. */
  readonly link?: string;
}

/** The run that the sandbox is for. Paths are absolute, symbolic links resolved. */
export interface SandboxedRun {
  readonly worktree: string;
  readonly commonDir: string;
  /** Administrative files of `worktree`. */
  readonly gitDir: string;
  /** Folder and name of its branch below `refs/heads`. */
  readonly branch: { readonly folder: string; readonly name: string };
}

/** What is there when a command starts. */
export interface Surroundings {
  /** Tops of all other worktrees. */
  readonly checkouts: readonly string[];
  /** At the top of the common directory. */
  readonly commonEntries: readonly Entry[];
  /** Branches beside the run's own: those of other runs. */
  readonly otherBranches: readonly string[];
  /** Of the packs that hold the history, below `objects/pack`. */
  readonly packFiles: readonly string[];
}

export interface Entry {
  readonly name: string;
  /** Where it leads, should it be a symbolic link. */
  readonly target?: string | undefined;
}

/** Stores in the common directory that commands of git and its extensions add to. The reftable holds every reference. */
const STORES = new Set(["objects", "lfs", "rr-cache", "reftable"]);
/** Without these the worktree would no longer be one of the repository's. */
const REGISTRATION = ["gitdir", "commondir", "locked"];

/**
 * What a command may write, in an order that only goes deeper: everything but the other worktrees and the common
 * directory; of that, what it takes to commit on the run's branch.
 */
export function sandboxRules(run: SandboxedRun, around: Surroundings): Rule[] {
  const { worktree, commonDir, gitDir, branch } = run;
  const common = (name: string) => join(commonDir, name);
  const write = (path: string): Rule => ({ access: "write", path });
  const read = (path: string): Rule => ({ access: "read", path });
  const branches = ["refs/heads", "logs/refs/heads"].map((heads) => common(join(heads, branch.folder)));
  const rules: Rule[] = [
    ...around.checkouts.filter((path) => path !== commonDir).map(read),
    { access: "locks", path: commonDir },
    ...around.commonEntries.map(({ name, target }): Rule => {
      const access = STORES.has(name) ? "write" : "read";
      return target === undefined ? { access, path: common(name) } : { access, path: target, link: common(name) };
    }),
    ...around.packFiles.map((name) => read(common(join("objects/pack", name)))),
    read(common("objects/info/alternates")),
    ...(hasReftable(around.commonEntries) ? [] : branches.map(write)),
    ...branches.flatMap((folder) => around.otherBranches.map((name) => read(join(folder, name)))),
    write(gitDir),
    ...REGISTRATION.map((name) => read(join(gitDir, name))),
    ...(around.checkouts.some((checkout) => isBelow(worktree, checkout)) ? [write(worktree)] : []),
    read(join(worktree, ".git")),
  ];
  return rules.sort((a, b) => depth(a.path) - depth(b.path));
}

/** In one table for all, references cannot be told apart by path: only files are protected. */
export function hasReftable(commonEntries: readonly Entry[]): boolean {
  return commonEntries.some(({ name }) => name === "reftable");
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === "/" ? folder : `${folder}/`);
}

function depth(path: string): number {
  return path.split("/").length;
}
