import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

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
export function redirectPath(redirect: Redirect, path: string, home = homedir()): string {
  const absolute = resolve(redirectedCwd(redirect), expanded(path, home));
  if (isInside(absolute, redirect.worktree)) return absolute;
  const main = redirect.mains.find((each) => isInside(absolute, each));
  return main === undefined ? absolute : join(redirect.worktree, absolute.slice(main.length));
}

/** Whether `path` is in the user's checkout and not in the worktree, should that be inside it. */
export function isInMain({ mains, worktree }: Redirect, path: string): boolean {
  return !isInside(path, worktree) && mains.some((main) => isInside(path, main));
}

/** What both hosts make of a path before they look at it: a name that only they expand would get past us. */
function expanded(path: string, home: string): string {
  const spaced = path.replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ");
  const named = spaced.startsWith("@") ? spaced.slice(1) : spaced;
  if (named === "~" || named.startsWith("~/")) return join(home, named.slice(1));
  return /^file:\/\/\//.test(named) ? fileURLToPath(named) : named;
}

/** The same path in the user's checkout: for reads of files that only exist there. */
export function originalPath(redirect: Redirect, redirected: string): string | undefined {
  const [main] = redirect.mains;
  if (main === undefined || !isInside(redirected, redirect.worktree)) return undefined;
  return join(main, redirected.slice(redirect.worktree.length));
}

/** `folder` itself counts. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/**
 * Shell text that starts in the worktree, with paths into the user's checkout rewritten.
 *
 * The `cd` stands on a line of its own: with `cd x && a; b` and x missing, b would run in the user's
 * checkout. The agent may have removed the directory that it stood in. `OLDPWD` would lead back.
 */
export function redirectCommand(redirect: Redirect, command: string, home = homedir()): string {
  const top = `cd ${quote(redirect.worktree)} || exit 97`;
  const start = redirect.subdirectory === "" ? top : `cd ${quote(redirectedCwd(redirect))} 2>/dev/null || ${top}`;
  return `${start}\nunset OLDPWD\n${rewritePaths(redirect, command, home)}`;
}

/** As {@link redirectCommand}, for PowerShell. */
export function redirectPowerShell(redirect: Redirect, command: string, home = homedir()): string {
  const cwd = redirectedCwd(redirect).replaceAll("'", "''");
  return `Set-Location -LiteralPath '${cwd}' -ErrorAction Stop\n${rewritePaths(redirect, command, home)}`;
}

/** Characters that continue a file name, so that what stands before them is not the whole of it. */
const NAME = "\\p{L}\\p{N}\\p{M}_";
/** A path of its own begins here: not in the middle of another, except after `-I` and the like, or `file://`. */
const BEFORE = `(?:(?<![${NAME}./~\\\\-])|(?<=(?:^|[\\s'"])-[A-Za-z]+)|(?<=\\bfile://))`;
/** `/repo.worktrees`, `/repo-2`, `/repo@2` and `/repo\ 2` are not `/repo`; a full stop after it is none of its name. */
const AFTER = `(?![.@+~#%]*[${NAME}-]|\\\\ )`;

/** Longest names first, so that one name of the checkout does not hide another that it begins. */
function rewritePaths(redirect: Redirect, command: string, home: string): string {
  const names = namesInShell(redirect, home);
  const found = [...names.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
  if (found.length === 0) return command;
  const name = `(?:${found.join("|")})`;
  // Looks back only where one begins: at every character of a long word it would take seconds.
  const pattern = new RegExp(`(?=${name})${BEFORE}${name}${AFTER}`, "gu");
  return command.replace(pattern, (match, offset: number) => {
    const other = names.get(match) ?? match;
    // The worktree may be inside the checkout: its own paths are right as they are.
    return other.length > match.length && command.startsWith(other, offset) ? match : other;
  });
}

/** Ways to write a path in shell text: bare, with backslashes, and inside either kind of quotes. */
const SPELLINGS: readonly ((path: string) => string)[] = [(path) => path, backslashed, singleQuoted, doubleQuoted];

/** Every spelling of the checkout's names, by home directory too, with the same spelling of the worktree. */
function namesInShell({ mains, worktree }: Redirect, home: string): Map<string, string> {
  const names = new Map<string, string>();
  const below = (path: string) => (isInside(path, home) && path !== home ? path.slice(home.length) : undefined);
  const worktreeBelow = below(worktree);
  for (const spell of SPELLINGS) {
    for (const main of mains) {
      names.set(spell(main), spell(worktree));
      const mainBelow = below(main);
      if (mainBelow === undefined) continue;
      for (const prefix of ["~", "$HOME", "$" + "{HOME}"]) {
        // A tilde means the home directory only outside of quotes.
        const whole = prefix === "~" ? backslashed(worktree) : spell(worktree);
        names.set(prefix + spell(mainBelow), worktreeBelow === undefined ? whole : prefix + spell(worktreeBelow));
      }
    }
  }
  return names;
}

function backslashed(path: string): string {
  return path.replace(/[^\p{L}\p{N}\p{M}_./:@%+,=-]/gu, "\\$&");
}

function singleQuoted(path: string): string {
  return path.replaceAll("'", "'\\''");
}

function doubleQuoted(path: string): string {
  return path.replace(/["$`\\]/g, "\\$&");
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** One word to a POSIX shell. */
export function quote(text: string): string {
  return `'${singleQuoted(text)}'`;
}
