import { dirname, join } from "node:path";
import { pathInCommit } from "../git/path-in-commit.ts";
import type { Redirection } from "../host/redirect-tools.ts";
import type { Ground } from "../run/preflight.ts";
import type { RunIdentity } from "../run/record.ts";

/** @param cwd where the session stands, as the user named it. */
export async function redirectionFor(
  cwd: string,
  { checkout, repository }: Ground,
  { worktree, base }: RunIdentity,
  allowTools: readonly string[] = [],
): Promise<Redirection> {
  const below = repository.prefix.split("/").slice(0, -1);
  // The session may know its directory by a symbolic link; its top is as far up as the prefix is deep.
  const named = join(cwd, ...below.map(() => ".."));
  const isTracked = (path: string) => pathInCommit(repository.git, base, path);
  let subdirectory = below.join("/");
  // A directory of untracked files only is not in the worktree.
  while (subdirectory !== "" && !(await isTracked(subdirectory)))
    subdirectory = dirname(subdirectory).replace(/^\.$/, "");
  return {
    redirect: { mains: [...new Set<string>([checkout, named])], worktree, subdirectory },
    allowTools,
    isTracked,
  };
}
