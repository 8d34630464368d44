import { GitError } from "../src/git/git-error.ts";
import type { TreePath } from "../src/git/names.ts";
import { RepositoryBusyError } from "../src/journal/lock.ts";
import { HolderLockedError } from "../src/landing/holder-index.ts";
import { boundedPaths, type ForeignText, foreign, name, type PathList, pathLines } from "./text.ts";

/** A refusal that was foreseen. Nothing was changed, unless `message` says so. */
export interface Blocked extends Partial<PathList> {
  readonly outcome: "blocked";
  /** A code, for programs. */
  readonly reason: string;
  readonly message: string;
  /** What another program said about it. */
  readonly output?: ForeignText;
  /** What to do. */
  readonly next: string;
}

export interface BlockedExtra {
  readonly paths?: readonly TreePath[] | undefined;
  readonly output?: string | undefined;
}

export function blocked(reason: string, message: string, next: string, { paths, output }: BlockedExtra = {}): Blocked {
  return {
    outcome: "blocked",
    reason,
    message: paths === undefined || paths.length === 0 ? message : `${message}\n${pathLines(paths)}`,
    ...(paths === undefined ? {} : boundedPaths(paths)),
    ...(output === undefined || output === "" ? {} : { output: foreign(output) }),
    next,
  };
}

export function blockedText({ message, output, next }: Blocked): string {
  return [`Blocked: ${message}`, ...(output === undefined ? [] : [output]), `Next: ${next}`].join("\n");
}

/** Failures that any tool can meet and that are answers rather than faults. */
export function foreseen(error: unknown, cwd: string): Blocked | undefined {
  if (error instanceof RepositoryBusyError) {
    return blocked(
      "busy",
      `Another process is changing this repository: ${error.message}.`,
      "Call again when it is done.",
    );
  }
  if (error instanceof HolderLockedError) {
    return blocked("locked", `${error.message}.`, "Call again when it is done.");
  }
  if (error instanceof Error && error.name === "AbortError") return cancelled();
  if (!(error instanceof GitError)) return undefined;
  const output = error.command.stderr;
  switch (error.kind) {
    case "not-a-repository":
      return blocked(
        "not-a-repository",
        `${name(cwd)} is not in a git repository.`,
        "Call the tool from a directory inside one, or run `git init` and make a first commit.",
      );
    case "unsafe-owner":
      return blocked(
        "unsafe-owner",
        "The repository belongs to another user, so git does not read it.",
        "A person who trusts it runs the command that git names (safe.directory), then call again.",
        { output },
      );
    case "locked":
      return blocked(
        "locked",
        "A lock file is in the way: another git process is at work here, or one crashed and left it behind.",
        "Wait and call again. If no git process is running, a person deletes the named file.",
        { output },
      );
    case "identity-unknown":
      return blocked(
        "identity-unknown",
        "git does not know in whose name to commit. There is no commit; the work is where it was.",
        "A person sets user.name and user.email with `git config`, then call again.",
      );
    case "stopped":
      return error.command.exit.kind === "aborted" ? cancelled() : undefined;
    default:
      return undefined;
  }
}

function cancelled(): Blocked {
  return blocked("aborted", "The call was cancelled.", "Look at the state with list_worktrees before calling again.");
}
