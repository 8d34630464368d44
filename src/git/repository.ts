import { type Git, type GitContext, gitIn } from "./git.ts";
import type { WorktreePath } from "./names.ts";
import { type RepositoryPlace, repositoryPlace, type WorktreeDirs } from "./rev-parse.ts";

/** A repository as seen from one directory. */
export interface Repository {
  readonly commonDir: string;
  /** Of the worktree that the directory is in. */
  readonly dirs: WorktreeDirs;
  /** Top of the worktree that the directory is in; `undefined` in a bare repository. */
  readonly topLevel: WorktreePath | undefined;
  /** Path of the directory below `topLevel`, with a trailing slash; empty at the top. */
  readonly prefix: string;
  /** Git bound to `topLevel`, or to the git directory of a bare repository. */
  readonly git: Git;
  /** Git bound to another worktree of the repository. */
  at(worktree: string): Git;
  /** The same repository, stopped by another signal or limit. */
  with(context: GitContext): Repository;
}

/** @throws {GitError} `not-a-repository`, `unsafe-owner`, `not-found`. */
export async function openRepository(cwd: string, context: GitContext = {}): Promise<Repository> {
  return bound(await repositoryPlace(gitIn(cwd, context)), context);
}

function bound(place: RepositoryPlace, context: GitContext): Repository {
  const { commonDir, dirs, topLevel, prefix } = place;
  return {
    commonDir,
    dirs,
    topLevel,
    prefix,
    git: gitIn(topLevel ?? commonDir, context),
    at: (worktree) => gitIn(worktree, context),
    with: (other) => bound(place, { ...context, ...other }),
  };
}
