import { stat } from "node:fs/promises";
import { devNull } from "node:os";
import { runProcess } from "../process/run-process.ts";
import { classify, type FailedCommand, GitError } from "./git-error.ts";
import { type TreePath, treePath } from "./names.ts";

/** Runs git in one worktree. The only way this package starts git. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<GitOutput>;

export interface GitOptions {
  /** Exit codes that are answers rather than failures. */
  readonly okCodes?: readonly number[];
  readonly stdin?: string | Buffer | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Wall-clock limit in milliseconds. */
  readonly timeoutMs?: number;
}

export interface GitOutput {
  readonly code: number;
  readonly bytes: Buffer;
  readonly stderr: string;
  /** Output as text. @throws {GitError} `not-utf8` rather than a replacement character. */
  text(): string;
  /** NUL-terminated records of paths and other bytes. */
  records(): TreePath[];
  /** The failure this output amounts to, for an answer that turns out not to be one. */
  asError(): GitError;
}

export interface GitContext {
  /** Stops whatever runs when it aborts. Bound here once, so operations need not pass it along. */
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Limit of one command in milliseconds; hooks count. */
  readonly timeoutMs?: number;
}

/** Generous: a cold disk or a slow hook is not an error. */
const TIMEOUT_MS = 120_000;
const OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Settings a user's config must not change under us. */
const FIXED_CONFIG = Object.entries({
  "core.fsmonitor": "false",
  "submodule.recurse": "false",
  "rebase.autoStash": "false",
  "rerere.enabled": "false",
  "color.ui": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "advice.graftFileDeprecated": "false",
}).flatMap(([key, value]) => ["-c", `${key}=${value}`]);

export function gitIn(worktree: string, context: GitContext = {}): Git {
  const { signal, env: base = process.env, timeoutMs: limitMs = TIMEOUT_MS } = context;
  const env = gitEnv(base);
  return async (args, { okCodes = [0], stdin, env: extra, timeoutMs = limitMs } = {}) => {
    const { exit, stdout, stderr } = await runProcess("git", [...FIXED_CONFIG, ...args], {
      cwd: worktree,
      env: { ...env, ...extra },
      timeoutMs,
      outputLimitBytes: OUTPUT_LIMIT_BYTES,
      stdin,
      signal,
    }).catch(async (error: NodeJS.ErrnoException) => {
      throw (await startError(error, worktree, args)) ?? error;
    });
    const command = { args, cwd: worktree, exit, stderr: stderr.toString() };
    const asError = () => new GitError(classify(exit, command.stderr), command);
    if (exit.kind !== "exited" || !okCodes.includes(exit.code)) throw asError();
    return {
      code: exit.code,
      bytes: stdout,
      stderr: command.stderr,
      text: () => decode(stdout, command),
      records: () => splitRecords(stdout),
      asError,
    };
  };
}

/** Starting a process in a directory that is not there fails with the same code as a program that is not there. */
async function startError(
  { code, message }: NodeJS.ErrnoException,
  cwd: string,
  args: readonly string[],
): Promise<GitError | undefined> {
  if (code !== "ENOENT" && code !== "ENOTDIR") return undefined;
  const isDirectory = await stat(cwd).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const command = { args, cwd, exit: { kind: "exited", code: 127 } as const };
  return isDirectory
    ? new GitError("not-found", { ...command, stderr: message })
    : new GitError("not-a-repository", { ...command, stderr: `there is no directory ${cwd}` });
}

/** Refuses rather than replaces bytes: a name that changed in decoding names something else. */
function decode(stdout: Buffer, command: FailedCommand): string {
  try {
    return UTF8.decode(stdout);
  } catch {
    throw new GitError("not-utf8", command);
  }
}

function splitRecords(stdout: Buffer): TreePath[] {
  return treePath(stdout).split("\0").slice(0, -1) as TreePath[];
}

/**
 * Variables that bind git to a repository or bend a command: what `git rev-parse --local-env-vars` lists
 * (2.39 and 2.47), the pathspec modes, and what git sets for its own hooks.
 */
const DROPPED_ENV = new Set([
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_EXTERNAL_DIFF",
  "GIT_GLOB_PATHSPECS",
  "GIT_GRAFT_FILE",
  "GIT_ICASE_PATHSPECS",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_LITERAL_PATHSPECS",
  "GIT_NAMESPACE",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REFLOG_ACTION",
  "GIT_REF_PARANOIA",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
  "LANGUAGE",
  "LC_ALL", // would override LC_MESSAGES; not set to C, which would change the encoding
  "SSH_ASKPASS",
]);

/** Keeps the user's identity and credential helpers; drops repository bindings, prompts, and translation. */
export function gitEnv(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(base).filter(
    ([name]) => !DROPPED_ENV.has(name) && !/^GIT_CONFIG_(?:KEY|VALUE)_/.test(name),
  );
  const language = base["LC_ALL"] === undefined ? {} : { LANG: base["LC_ALL"] };
  return {
    ...Object.fromEntries(kept),
    ...language,
    LC_MESSAGES: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_MERGE_AUTOEDIT: "no",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: devNull, // grafts fake ancestry as replace refs do
  };
}
