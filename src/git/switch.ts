import type { Git } from "./git.ts";
import type { BranchName, Oid } from "./names.ts";

/** Checks out `commit` with a detached HEAD. Refused where it would overwrite a modified or ignored file. */
export async function switchDetached(git: Git, commit: Oid): Promise<void> {
  await git(["checkout", "--quiet", "--no-overwrite-ignore", "--no-recurse-submodules", "--detach", commit]);
}

/** Checks out `branch`. Refused where it would overwrite a modified or ignored file. */
export async function switchBranch(git: Git, branch: BranchName): Promise<void> {
  await git(["checkout", "--quiet", "--no-overwrite-ignore", "--no-recurse-submodules", "--no-guess", branch, "--"]);
}
