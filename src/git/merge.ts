import type { Git } from "./git.ts";
import { GitError } from "./git-error.ts";
import type { Oid } from "./names.ts";

/** Policy on the command line, so that no configuration decides it: git-merge(1), `merge.*`, `pull.twohead`. */
const FLAGS = ["--strategy=ort", "--no-edit", "--no-stat", "--no-autostash", "--no-verify-signatures", "--quiet"];

/**
 * Merges `commit` into a detached HEAD with the user's hooks in effect.
 *
 * @throws {GitError} `hook-rejected` when a hook refuses the merge commit; git then leaves the merge in
 *   progress, for {@link abortMerge}.
 */
export async function mergeCommit(git: Git, commit: Oid, message: string): Promise<void> {
  await withHooks(git(["merge", ...FLAGS, "--no-ff", "--no-squash", "--commit", "-m", message, commit]));
}

/** Stages the merge of `commit` without recording a merge. */
export async function mergeSquash(git: Git, commit: Oid): Promise<void> {
  await git(["merge", ...FLAGS, "--squash", "--no-commit", commit]);
}

export async function abortMerge(git: Git): Promise<void> {
  await git(["merge", "--abort"], { okCodes: [0, 128] });
}

/** Rebases detached HEAD's commits since `upstream` onto `onto`. @throws {GitError} `hook-rejected`. */
export async function rebaseOnto(git: Git, upstream: Oid, onto: Oid): Promise<void> {
  const flags = ["--merge", "--no-autostash", "--no-autosquash", "--no-update-refs", "--no-stat", "--empty=drop"];
  await withHooks(git(["-c", "rebase.instructionFormat=%s", "rebase", "--quiet", ...flags, "--onto", onto, upstream]));
}

export async function abortRebase(git: Git): Promise<void> {
  await git(["rebase", "--abort"], { okCodes: [0, 128] });
}

/** git's porcelain exits with 1 and no line of its own when a hook refused; 128 is git's own failure. */
export async function withHooks<T>(command: Promise<T>): Promise<T> {
  return command.catch((error: unknown) => {
    if (!(error instanceof GitError) || error.kind !== "failed") throw error;
    const { exit } = error.command;
    throw exit.kind === "exited" && exit.code === 1 ? new GitError("hook-rejected", error.command) : error;
  });
}
