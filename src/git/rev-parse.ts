import type { Git } from "./git.ts";
import { GitError } from "./git-error.ts";
import { type Oid, toOid, toWorktreePath, type WorktreePath } from "./names.ts";

/** Where git keeps what belongs to one worktree; `.git` is a file in a linked one. */
export interface WorktreeDirs {
  readonly gitDir: string;
  readonly hooks: string;
  readonly indexLock: string;
}

/** Where a directory stands in its repository. */
export interface RepositoryPlace {
  /** Shared by all worktrees. */
  readonly commonDir: string;
  /** Of this worktree. */
  readonly dirs: WorktreeDirs;
  /** `undefined` in a bare repository or inside a git directory. */
  readonly topLevel: WorktreePath | undefined;
  /** Path of the directory below `topLevel`, with a trailing slash; empty at the top. */
  readonly prefix: string;
}

const DIRS = ["--absolute-git-dir", "--git-path", "hooks", "--git-path", "index.lock"];

/**
 * @throws {GitError} `not-a-repository`, `unsafe-owner`; `failed` when a path holds a newline, which
 *   `rev-parse` cannot print unambiguously.
 */
export async function repositoryPlace(git: Git): Promise<RepositoryPlace> {
  const shown = ["--git-common-dir", ...DIRS, "--is-inside-work-tree", "--show-toplevel", "--show-prefix"];
  const output = await git(["rev-parse", "--path-format=absolute", ...shown], { okCodes: [0, 128] });
  const [commonDir, gitDir, hooks, indexLock, inside, topLevel, prefix = "", ...rest] = output.text().split("\n");
  if (commonDir === undefined || gitDir === undefined || hooks === undefined || indexLock === undefined) {
    throw output.asError();
  }
  const dirs = { gitDir, hooks, indexLock };
  if (inside === "false") return { commonDir, dirs, topLevel: undefined, prefix: "" };
  if (output.code !== 0 || inside !== "true" || topLevel === undefined || rest.length > 1) throw output.asError();
  return { commonDir, dirs, topLevel: toWorktreePath(topLevel), prefix };
}

/** Those of another worktree than the one at hand. */
export async function worktreeDirs(git: Git): Promise<WorktreeDirs> {
  const output = await git(["rev-parse", "--path-format=absolute", ...DIRS]);
  const [gitDir, hooks, indexLock] = output.text().split("\n");
  if (gitDir === undefined || hooks === undefined || indexLock === undefined) throw output.asError();
  return { gitDir, hooks, indexLock };
}

/**
 * Object name of the commit that `revision` means, or `undefined` when it names none.
 *
 * `revision` is a user's input: it never reaches git as an option.
 */
export async function commitOid(git: Git, revision: string): Promise<Oid | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const output = await git(args, { okCodes: [0, 1, 128] });
  const text = output.text().trim();
  return output.code === 0 && !text.startsWith("^") ? toOid(text) : undefined; // `^main` means what is not in main
}

/** Object names of the trees of `commits`, in order. @throws {GitError} `unknown-revision` when one is missing. */
export async function treeOids(git: Git, commits: readonly Oid[]): Promise<Oid[]> {
  const output = await git(["rev-parse", ...commits.map((commit) => `${commit}^{tree}`)]);
  return output.text().trim().split("\n").map(toOid);
}

/** `git --version` as numbers. @throws {GitError} `failed` when it prints something else. */
export async function gitVersion(git: Git): Promise<readonly [number, number]> {
  const output = await git(["--version"]);
  const match = /^git version (\d+)\.(\d+)/.exec(output.text());
  if (!match) throw new GitError("failed", output.asError().command);
  return [Number(match[1]), Number(match[2])];
}

/** Whether the history is cut off, so that a merge base may lie below the cut. */
export async function isShallow(git: Git): Promise<boolean> {
  const output = await git(["rev-parse", "--is-shallow-repository"]);
  return output.text().trim() === "true";
}
