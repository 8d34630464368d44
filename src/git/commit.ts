import type { Git } from "./git.ts";
import { withHooks } from "./merge.ts";
import { type Oid, toOid } from "./names.ts";

/** Stages everything in the working tree, as the next commit would have it, and writes that tree. */
export async function stageAll(git: Git): Promise<Oid> {
  await git(["-c", "add.ignoreErrors=false", "-c", "core.safecrlf=false", "add", "--all", "--", ":/"]);
  const output = await git(["write-tree"]);
  return toOid(output.text().trim());
}

/**
 * Commits the index with the user's hooks, identity and signing in effect.
 *
 * @throws {GitError} `hook-rejected` with the hook's words in stderr; `signing-failed`.
 */
export async function commitIndex(git: Git, message: string): Promise<void> {
  const flags = ["--quiet", "--no-status", "--cleanup=whitespace", "--allow-empty-message"];
  await withHooks(git(["commit", ...flags, "--file=-"], { stdin: message }));
}
