import type { Git } from "./git.ts";
import { withHooks } from "./merge.ts";
import { type Oid, type TreePath, toOid } from "./names.ts";

/**
 * Stages everything in the working tree, as the next commit would have it, and writes that tree.
 *
 * @param except paths that are left out, whatever is there.
 */
export async function stageAll(git: Git, except: readonly TreePath[] = []): Promise<Oid> {
  const exclusions = except.map((path) => `:(top,exclude,literal)${path}\0`).join("");
  await git(["-c", "add.ignoreErrors=false", "-c", "core.safecrlf=false", "add", "--all", ...FROM_STDIN], {
    stdin: Buffer.from(`:/\0${exclusions}`, "latin1"),
  });
  const output = await git(["write-tree"]);
  return toOid(output.text().trim());
}

/** Puts index entries back to what HEAD has; files stay. */
export async function unstage(git: Git, paths: readonly TreePath[]): Promise<void> {
  if (paths.length === 0) return;
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  await git(["--literal-pathspecs", "restore", "--staged", "--quiet", ...FROM_STDIN], { stdin });
}

/** Pathspecs by way of stdin: paths are bytes, arguments are text. */
const FROM_STDIN = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/**
 * Commits the index with the user's hooks, identity and signing in effect.
 *
 * @throws {GitError} `hook-rejected` with the hook's words in stderr; `signing-failed`.
 */
export async function commitIndex(git: Git, message: string): Promise<void> {
  const flags = ["--quiet", "--no-status", "--cleanup=whitespace", "--allow-empty-message"];
  await withHooks(git(["commit", ...flags, "--file=-"], { stdin: message }));
}
