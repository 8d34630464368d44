import type { Git } from "./git.ts";
import { GitError } from "./git-error.ts";
import { type Oid, toOid, toWorktreePath, type WorktreePath } from "./names.ts";

/** Where a directory stands in its repository. */
export interface RepositoryPlace {
  /** Shared by all worktrees. */
  readonly commonDir: string;
  /** Of this worktree. */
  readonly gitDir: string;
  /** `undefined` in a bare repository or inside a git directory. */
  readonly topLevel: WorktreePath | undefined;
  /** Path of the directory below `topLevel`, with a trailing slash; empty at the top. */
  readonly prefix: string;
}

/**
 * @throws {GitError} `not-a-repository`, `unsafe-owner`; `failed` when a path holds a newline, which
 *   `rev-parse` cannot print unambiguously.
 */
export async function repositoryPlace(git: Git): Promise<RepositoryPlace> {
  const shown = ["--git-common-dir", "--absolute-git-dir", "--is-inside-work-tree"];
  const output = await git(["rev-parse", "--path-format=absolute", ...shown, "--show-toplevel", "--show-prefix"], {
    okCodes: [0, 128],
  });
  const [commonDir, gitDir, inside, topLevel, prefix = "", ...rest] = output.text().split("\n");
  if (commonDir === undefined || gitDir === undefined || inside === undefined) throw output.asError();
  if (inside === "false") return { commonDir, gitDir, topLevel: undefined, prefix: "" };
  if (output.code !== 0 || inside !== "true" || topLevel === undefined || rest.length > 1) throw output.asError();
  return { commonDir, gitDir, topLevel: toWorktreePath(topLevel), prefix };
}

/**
 * Object name of the commit that `revision` means, or `undefined` when it names none.
 *
 * `revision` is a user's input: it never reaches git as an option.
 */
export async function commitOid(git: Git, revision: string): Promise<Oid | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const output = await git(args, { okCodes: [0, 1, 128] });
  return output.code === 0 ? toOid(output.text().trim()) : undefined;
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

export interface WorktreeDirs {
  readonly gitDir: string;
  readonly hooks: string;
  readonly indexLock: string;
}

/** Where git keeps what belongs to this worktree; `.git` is a file in a linked one. */
export async function worktreeDirs(git: Git): Promise<WorktreeDirs> {
  const paths = ["--git-path", "hooks", "--git-path", "index.lock"];
  const output = await git(["rev-parse", "--path-format=absolute", "--absolute-git-dir", ...paths]);
  const [gitDir, hooks, indexLock] = output.text().split("\n");
  if (gitDir === undefined || hooks === undefined || indexLock === undefined) throw output.asError();
  return { gitDir, hooks, indexLock };
}

/** Whether the history is cut off, so that a merge base may lie below the cut. */
export async function isShallow(git: Git): Promise<boolean> {
  const output = await git(["rev-parse", "--is-shallow-repository"]);
  return output.text().trim() === "true";
}
