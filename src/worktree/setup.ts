import { gitEnv } from "../git/git.ts";
import type { WorktreePath } from "../git/names.ts";
import { type Exit, runProcess } from "../process/run-process.ts";

/** A command that makes a new worktree ready. Whoever passes one on vouches for it: it runs as the user. */
export interface Setup {
  /** Shell text. */
  readonly command: string;
  readonly timeoutMs: number;
}

export interface SetupContext {
  readonly worktree: WorktreePath;
  /** The user's; its path is `ULTRATHINK_CHECKOUT` to the command. */
  readonly checkout: WorktreePath;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Receives what the command prints, as it does. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

export type SetupEnd =
  | { readonly kind: "ready" }
  | { readonly kind: "aborted" }
  /** `output` is the end of what it printed. */
  | { readonly kind: "failed"; readonly how: string; readonly output: string };

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;
/** What people need of a failed command: its end. */
const TAIL_LINES = 30;

/** Runs the set-up command at the top of the worktree. When it is ended, so is all that it started. */
export async function runSetup(
  { command, timeoutMs }: Setup,
  { worktree, checkout, env, signal, onOutput }: SetupContext,
): Promise<SetupEnd> {
  let printed = "";
  const { exit } = await runProcess("sh", ["-c", command], {
    cwd: worktree,
    env: { ...gitEnv(env), ULTRATHINK_WORKTREE: worktree, ULTRATHINK_CHECKOUT: checkout },
    timeoutMs,
    outputLimitBytes: OUTPUT_LIMIT_BYTES,
    signal,
    onOutput: (text) => {
      printed = tail(printed + text);
      onOutput?.(text);
    },
  });
  if (exit.kind === "aborted") return { kind: "aborted" };
  const how = howItFailed(exit);
  return how === undefined ? { kind: "ready" } : { kind: "failed", how, output: printed.trimEnd() };
}

function tail(text: string): string {
  return text.split("\n").slice(-TAIL_LINES).join("\n");
}

function howItFailed(exit: Exclude<Exit, { kind: "aborted" }>): string | undefined {
  switch (exit.kind) {
    case "exited":
      return exit.code === 0 ? undefined : `exit code ${exit.code}`;
    case "signalled":
      return `ended by ${exit.signal}`;
    case "timed-out":
      return `not done after ${Math.round(exit.afterMs / 6_000) / 10} min, so it was ended`;
    case "output-limit":
      return `printed more than ${exit.limitBytes / 1024 / 1024} MiB, so it was ended`;
  }
}
