import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type GitContext, gitIn } from "../git/git.ts";
import { GitError } from "../git/git-error.ts";
import { type BranchName, type Oid, refBranch, type WorktreePath } from "../git/names.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { commitOid, gitVersion } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import { worktrees } from "../git/worktree-list.ts";
import { DEFAULT_TEMPLATE, owningRun, type RunPlaces, runWorktreeFolder } from "../worktree/place.ts";

/** Oldest git with `merge-tree --write-tree`. */
const GIT_FLOOR = [2, 38] as const;

/** A checkout that a run can start from. */
export interface Ground {
  readonly repository: Repository;
  /** Top of the checkout that the user is in. */
  readonly checkout: WorktreePath;
  readonly mainWorktree: WorktreePath;
  /** Where worktrees go, relative to what the main one lies in. */
  readonly template: string;
  readonly original: BranchName;
  readonly base: Oid;
  readonly originalTip: Oid;
  /** Entries of the user's checkout that differ from HEAD; they stay behind. */
  readonly uncommitted: number;
}

export type Preflight =
  | { readonly kind: "ready"; readonly ground: Ground }
  /** One sentence on what is the matter and one on what to do. Nothing was changed. */
  | { readonly kind: "refused"; readonly message: string };

export interface Wanted {
  /** Start from this revision instead of HEAD. */
  readonly base?: string | undefined;
  /** Where worktrees go; see {@link RunPlaces}. */
  readonly template?: string | undefined;
}

/** Looks whether a run can start in `cwd`. Changes nothing. */
export async function preflight(cwd: string, context: GitContext = {}, wanted: Wanted = {}): Promise<Preflight> {
  try {
    const version = await gitVersion(gitIn(cwd, context));
    if (version[0] < GIT_FLOOR[0] || (version[0] === GIT_FLOOR[0] && version[1] < GIT_FLOOR[1])) {
      return refused(`git ${version.join(".")} is too old: install git ${GIT_FLOOR.join(".")} or newer.`);
    }
    return await inspect(await openRepository(cwd, context), cwd, wanted);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    switch (error.kind) {
      case "not-found":
        return refused(`git was not found on PATH: install git ${GIT_FLOOR.join(".")} or newer.`);
      case "not-a-repository":
        return refused(
          `${cwd} is not in a git repository: run git init and make a first commit, or start Pi inside one.`,
        );
      case "unsafe-owner":
        return refused(
          `${cwd} is in a repository of another user, which git does not trust: see safe.directory in git help config.`,
        );
      default:
        throw error;
    }
  }
}

async function inspect(
  repository: Repository,
  cwd: string,
  { base: baseRevision, template = DEFAULT_TEMPLATE }: Wanted,
): Promise<Preflight> {
  const { topLevel, git } = repository;
  if (topLevel === undefined) {
    return refused(
      `${cwd} has no working tree (bare repository or git directory): start Pi in a checkout or linked worktree.`,
    );
  }
  const all = await worktrees(git);
  const here = all.find(({ path }) => path === topLevel);
  const [main] = all;
  if (here === undefined || main === undefined) {
    return refused(`git does not list ${topLevel} among its worktrees: run git worktree repair there.`);
  }
  const owner = owningRun(here);
  if (owner !== undefined) {
    return refused(
      `${topLevel} is the worktree of run ${owner}: start from your own checkout, ${main.path}, or resume that run.`,
    );
  }
  if (here.branch === undefined) {
    return refused("HEAD is detached, so there is no branch to land on: git switch a branch and start again.");
  }
  const original = refBranch(here.branch);
  if (original === undefined) return refused(`HEAD is at ${here.branch}, which is no local branch: git switch to one.`);
  if (here.head === undefined) {
    return refused(
      `branch ${original} has no commit yet: make a first one (git commit --allow-empty -m start) and start again.`,
    );
  }
  const base = baseRevision === undefined ? here.head : await commitOid(git, baseRevision);
  if (base === undefined) return refused(`--base ${baseRevision} names no commit: give a branch, tag or object name.`);
  const folder = await folderProblem(runWorktreeFolder({ mainWorktree: main.path, template }));
  if (folder !== undefined) return refused(folder);
  const uncommitted = (await status(git)).length;
  const ground = {
    repository,
    checkout: topLevel,
    mainWorktree: main.path,
    template,
    original,
    originalTip: here.head,
    base,
    uncommitted,
  };
  return { kind: "ready", ground };
}

/** Looks whether the folder for worktrees can be made or written; asked early, so that nothing has to be taken back. */
async function folderProblem(folder: string): Promise<string | undefined> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
  const parent = dirname(folder);
  if (stats instanceof Error && stats.code === "ENOENT" && parent !== folder) return folderProblem(parent);
  if (stats instanceof Error || !stats.isDirectory()) {
    return `${folder}, where the run's worktree goes, is not a folder: move what is there and start again.`;
  }
  const why = await access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  return (
    why && `${folder}, where the run's worktree goes, cannot be written (${why}): make it writable and start again.`
  );
}

function refused(message: string): Preflight {
  return { kind: "refused", message };
}
