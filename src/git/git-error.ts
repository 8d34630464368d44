import type { Exit } from "../process/run-process.ts";

/** What callers and tools branch on. Add a kind only with a caller that treats it differently. */
export type GitErrorKind =
  | "not-a-repository"
  | "unsafe-owner" // safe.directory: the repository belongs to another user
  | "unknown-revision"
  | "locked" // another process holds index.lock or a ref lock
  | "stale-ref" // compare-and-swap: the ref is not at the expected oid
  | "hook-rejected" // a hook exited non-zero; its words are in stderr
  | "signing-failed"
  | "identity-unknown" // no user.name or user.email, and none to be guessed
  | "stopped" // timed out, aborted, killed, or over the output limit
  | "not-utf8" // output that a JS string cannot hold unchanged
  | "not-found" // no git on PATH
  | "failed"; // anything else; read `stderr`

export interface FailedCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly exit: Exit;
  readonly stderr: string;
}

export class GitError extends Error {
  override readonly name = "GitError";
  readonly kind: GitErrorKind;
  readonly command: FailedCommand;

  constructor(kind: GitErrorKind, command: FailedCommand) {
    super(`git ${subcommand(command.args)}: ${kind}: ${cause(command)}`);
    this.kind = kind;
    this.command = command;
  }
}

/** First line of stderr that says what went wrong; how the process ended when it said nothing. */
function cause({ stderr, exit }: FailedCommand): string {
  const lines = stderr.trim().split("\n");
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0];
  if (line && exit.kind === "exited") return line.replace(/^(?:fatal|error): /, "");
  switch (exit.kind) {
    case "exited":
      return `exit code ${exit.code}`;
    case "signalled":
      return `ended by ${exit.signal}`;
    case "timed-out":
      return `took longer than ${exit.afterMs / 1000} s`;
    case "aborted":
      return "cancelled";
    case "output-limit":
      return `wrote more than ${exit.limitBytes} bytes`;
  }
}

function subcommand(args: readonly string[]): string {
  return args.find((arg, index) => !arg.startsWith("-") && args[index - 1] !== "-c") ?? "";
}

/**
 * stderr phrases for causes that git reports with exit code 128 and nothing else.
 * The runner sets LC_MESSAGES=C; `test/git/git-error.test.ts` provokes each row with real git.
 */
const STDERR_KINDS: readonly (readonly [RegExp, GitErrorKind])[] = [
  [/^fatal: not a git repository|must be run in a work tree/m, "not-a-repository"],
  [/^fatal: detected dubious ownership/m, "unsafe-owner"],
  [/Unable to create '.*\.lock': File exists/, "locked"],
  [/is at [0-9a-f]+ but expected [0-9a-f]+|reference already exists|unable to resolve reference/, "stale-ref"],
  [/Needed a single revision|not something we can merge|bad object|unknown revision/, "unknown-revision"],
  [/gpg failed to sign|failed to write commit object|failed to sign/i, "signing-failed"],
  [/^(?:Author|Committer) identity unknown/m, "identity-unknown"],
  [/ref updates aborted by hook/, "hook-rejected"],
];

export function classify(exit: Exit, stderr: string): GitErrorKind {
  if (exit.kind !== "exited") return "stopped";
  return STDERR_KINDS.find(([pattern]) => pattern.test(stderr))?.[1] ?? "failed";
}

/** Name of the required filter that failed to write a file, if that is what went wrong; gitattributes(5). */
export function failedFilter({ command }: GitError): string | undefined {
  return /: smudge filter (.+) failed$/m.exec(command.stderr)?.[1];
}
