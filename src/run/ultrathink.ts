import { GitError } from "../git/git-error.ts";
import { commitsBetween } from "../git/log.ts";
import type { Check } from "../landing/state.ts";
import type { Complete } from "../naming/ask.ts";
import type { Agent } from "./agent.ts";
import { finish, type LandMode } from "./finish.ts";
import { iterate, type LoopEnd, type LoopStart } from "./loop.ts";
import type { Ground } from "./preflight.ts";
import type { Progress } from "./progress.ts";
import { checkMessage } from "./prompts.ts";
import type { RunIdentity } from "./record.ts";
import type { Ending, RunReport } from "./report.ts";
import { startRun } from "./start.ts";

export interface RunDeps {
  readonly ground: Ground;
  readonly complete: Complete;
  readonly progress: (progress: Progress) => void;
  /** Called once the worktree is there: the agent's tools act in it from now on. */
  readonly enter: (run: RunIdentity) => Agent | Promise<Agent>;
  /** Called when the work has landed or was preserved: the agent is back in the user's checkout. */
  readonly leave: () => void;
  /** Aborts when the user steps in before the first iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunOptions {
  readonly task: string;
  readonly max: number;
  readonly land: LandMode;
  /** Must succeed on the result before it lands. */
  readonly check?: Check;
  readonly reviewInstructions: string;
}

export type RunResult =
  | { readonly kind: "finished"; readonly report: RunReport }
  /** The user stepped in before anything was created. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "refused"; readonly message: string };

/** One whole run: name, worktree, iterations, landing. */
export async function ultrathink(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  const { ground, complete, progress, signal } = deps;
  const { repository } = ground;
  const began = Date.now();
  progress({ type: "preparing", what: "name" });
  const started = await startRun(ground, options.task, complete, signal);
  if (started.kind !== "started") return started;
  const { run, record } = started;
  progress({ type: "started", run, ground, max: options.max });

  const agent = await deps.enter(run);
  const shared = { repository, run, complete, record, progress };
  try {
    let start: LoopStart | undefined = { iteration: 1, tip: run.base, message: options.task };
    for (;;) {
      const loop: LoopEnd = await iterate({ ...shared, agent }, options, start);
      const failure = started.namingFailure ?? loop.namingFailure;
      const end = failure === undefined ? loop : { ...loop, stop: namingStop(loop.stop, failure.message) };
      const commits = await commitsBetween(repository.git, run.base, end.tip);
      const ending = await finish(shared, end, options).catch(unfinished);
      start = nextStart(ending, end, options.max);
      if (start !== undefined) continue;
      const { iterations, stop, leftOut } = end;
      const elapsedMs = Date.now() - began;
      const report = {
        run,
        checkout: ground.checkout,
        stop,
        ending,
        iterations,
        commits,
        stayed: ground.uncommitted,
        elapsedMs,
        leftOut,
      };
      return { kind: "finished", report };
    }
  } finally {
    deps.leave();
  }
}

/** A failed check goes back to the agent while iterations are left. */
function nextStart(ending: Ending, { iterations, tip, gap }: LoopEnd, max: number): LoopStart | undefined {
  if (ending.kind !== "preserved" || ending.reason?.kind !== "check-failed") return undefined;
  if (iterations >= max || gap?.aborted) return undefined;
  const { command, output } = ending.reason;
  return { iteration: iterations + 1, tip, message: checkMessage(command, output) };
}

/** What git could not finish is told with the rest; the journal knows how far it came. */
function unfinished(error: unknown): Ending {
  if (!(error instanceof GitError)) throw error;
  return { kind: "unfinished", message: error.message };
}

/** A run whose commits could not be named is not landed; any worse reason is told instead. */
function namingStop(stop: RunReport["stop"], message: string): RunReport["stop"] {
  return stop.kind === "no-git-changes" || stop.kind === "max-iterations" ? { kind: "naming-error", message } : stop;
}
