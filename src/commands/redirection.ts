import { dirname, join } from "node:path";
import { pathInCommit } from "../git/path-in-commit.ts";
import { worktrees } from "../git/worktree-list.ts";
import type { Redirection } from "../host/redirect-tools.ts";
import type { SandboxInForce } from "../isolation/detect-sandbox.ts";
import { openSandbox } from "../isolation/open-sandbox.ts";
import type { Ground } from "../run/preflight.ts";
import type { RunIdentity } from "../run/record.ts";

export interface RedirectionOptions {
  readonly allowTools: readonly string[] | undefined;
  readonly sandbox: SandboxInForce;
}

/** @param cwd where the session stands, as the user named it. */
export async function redirectionFor(
  cwd: string,
  { checkout, repository, mainWorktree }: Ground,
  { worktree, base, branch }: RunIdentity,
  { allowTools = [], sandbox }: RedirectionOptions,
): Promise<Redirection> {
  const below = repository.prefix.split("/").slice(0, -1);
  // The session may know its directory by a symbolic link; its top is as far up as the prefix is deep.
  const named = join(cwd, ...below.map(() => ".."));
  const isTracked = (path: string) => pathInCommit(repository.git, base, path);
  let subdirectory = below.join("/");
  // A directory of untracked files only is not in the worktree.
  while (subdirectory !== "" && !(await isTracked(subdirectory)))
    subdirectory = dirname(subdirectory).replace(/^\.$/, "");
  const others = (await worktrees(repository.git)).map(({ path }) => path).filter((path) => path !== worktree);
  const checkouts = [mainWorktree, checkout];
  return {
    redirect: { mains: [...new Set<string>([checkout, named])], worktree, subdirectory },
    allowTools,
    isTracked,
    readOnly: [...others, repository.commonDir],
    sandboxed: await openSandbox({ repository, worktree, branch, checkouts }, sandbox),
  };
}
