import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** A run's worktree standing in for the user's checkout. All paths are absolute, without a trailing slash. */
export interface Redirect {
  /** Top of the user's checkout, under every name it is known by: resolved, and as the user typed it. */
  readonly mains: readonly string[];
  readonly worktree: string;
  /** The user's directory below the top; empty at the top. */
  readonly subdirectory: string;
}

/** Where the agent stands during the run. */
export function redirectedCwd({ worktree, subdirectory }: Redirect): string {
  return join(worktree, subdirectory);
}

/**
 * The path that a file tool should use: relative ones resolve against the worktree, ones into the user's
 * checkout map to the same place in the worktree, others stay.
 */
export function redirectPath(redirect: Redirect, path: string): string {
  const named = path.startsWith("@") ? path.slice(1) : path;
  const expanded = named === "~" || named.startsWith("~/") ? join(homedir(), named.slice(1)) : named;
  const absolute = isAbsolute(expanded) ? resolve(expanded) : resolve(redirectedCwd(redirect), expanded);
  if (isInside(absolute, redirect.worktree)) return absolute;
  const main = redirect.mains.find((each) => isInside(absolute, each));
  return main === undefined ? absolute : join(redirect.worktree, absolute.slice(main.length));
}

/** The same path in the user's checkout: for reads of files that only exist there. */
export function originalPath(redirect: Redirect, redirected: string): string | undefined {
  const [main] = redirect.mains;
  if (main === undefined || !isInside(redirected, redirect.worktree)) return undefined;
  return join(main, redirected.slice(redirect.worktree.length));
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/**
 * Shell text that starts in the worktree, with paths into the user's checkout rewritten.
 *
 * The `cd` stands on a line of its own: with `cd x && a; b` and x missing, b would run in the user's
 * checkout. `OLDPWD` would lead back there.
 */
export function redirectCommand(redirect: Redirect, command: string): string {
  return `cd ${quote(redirectedCwd(redirect))} || exit 97\nunset OLDPWD\n${rewritePaths(redirect, command)}`;
}

/** As {@link redirectCommand}, for PowerShell. */
export function redirectPowerShell(redirect: Redirect, command: string): string {
  const cwd = redirectedCwd(redirect).replaceAll("'", "''");
  return `Set-Location -LiteralPath '${cwd}' -ErrorAction Stop\n${rewritePaths(redirect, command)}`;
}

/** Longest names first, so that one name of the checkout does not hide another that it begins. */
function rewritePaths({ mains, worktree }: Redirect, command: string): string {
  const names = [...mains].sort((a, b) => b.length - a.length).map(escapeRegExp);
  if (names.length === 0) return command;
  // What may stand before and after a path for it to be one of its own: `/repo.worktrees` is not `/repo`.
  const pattern = new RegExp(`(?<![\\w./-])(?:${names.join("|")})(?![\\w.-])`, "gu");
  return command.replace(pattern, (match, offset: number) =>
    command.startsWith(worktree, offset) && worktree.length > match.length ? match : worktree,
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** One word to a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
