import { GitError } from "../git/git-error.ts";
import { commitsBetween } from "../git/log.ts";
import type { SharedChange } from "../isolation/changes.ts";
import type { SandboxInForce } from "../isolation/detect-sandbox.ts";
import type { Check } from "../landing/state.ts";
import type { Complete, NamingError } from "../naming/ask.ts";
import type { Wishes } from "../worktree/prepare.ts";
import type { Agent } from "./agent.ts";
import { finish, type LandMode } from "./finish.ts";
import type { KnownRun } from "./known-runs.ts";
import { iterate, type LoopEnd, type LoopStart } from "./loop.ts";
import type { Ground } from "./preflight.ts";
import type { Progress } from "./progress.ts";
import { checkMessage } from "./prompts.ts";
import { beginProof } from "./proof.ts";
import type { Recorder, RunIdentity } from "./record.ts";
import type { Ending, RunReport } from "./report.ts";
import { prepareResume } from "./resume.ts";
import { type Cancelled, startRun } from "./start.ts";

export interface RunDeps {
  readonly ground: Ground;
  readonly complete: Complete;
  readonly progress: (progress: Progress) => void;
  /** Called once the worktree is there: the agent's tools act in it from now on. */
  readonly enter: (run: RunIdentity) => Agent | Promise<Agent>;
  /** Called when the work has landed or was preserved: the agent is back in the user's checkout. */
  readonly leave: () => void;
  /** What confines the agent's commands. */
  readonly sandbox: SandboxInForce;
  /** Aborts when the user steps in before the first iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunOptions {
  readonly max: number;
  readonly land: LandMode;
  /** Must succeed on the result before it lands. */
  readonly check?: Check;
  readonly reviewInstructions: string;
  /** What the worktree gets beside what is in its commit. */
  readonly wishes: Wishes;
}

export type RunResult =
  | { readonly kind: "finished"; readonly report: RunReport }
  | Cancelled
  | { readonly kind: "refused"; readonly message: string };

/** One whole run: name, worktree, iterations, landing. */
export async function ultrathink(deps: RunDeps, task: string, options: RunOptions): Promise<RunResult> {
  const { ground, progress, sandbox } = deps;
  const started = await startRun(deps, task, options.wishes);
  if (started.kind !== "started") return started;
  const { run, record, namingFailure, equipment } = started;
  progress({ type: "started", run, ground, max: options.max, sandbox });
  progress({ type: "equipped", equipment });
  return drive(deps, options, { run, record, namingFailure, start: { iteration: 1, tip: run.base, message: task } });
}

/** A kept run goes on in this session, in its own worktree. */
export async function resumeRun(deps: RunDeps, known: KnownRun, options: RunOptions): Promise<RunResult> {
  const { ground, progress, sandbox } = deps;
  progress({ type: "preparing", what: "worktree" });
  const resumed = await prepareResume(deps, known, options);
  if (resumed.kind !== "resumed") return resumed;
  const { run, equipment } = resumed;
  const max = known.iterations + options.max;
  progress({ type: "started", run, ground, max, sandbox });
  if (equipment !== undefined) progress({ type: "equipped", equipment });
  return drive(deps, { ...options, max }, { run, record: resumed.record, start: resumed.start });
}

interface Begun {
  readonly run: RunIdentity;
  readonly record: Recorder;
  readonly start: LoopStart;
  readonly namingFailure?: NamingError | undefined;
}

/** Iterations and landing, until there is nothing left that the agent could mend. */
async function drive(deps: RunDeps, options: RunOptions, begun: Begun): Promise<RunResult> {
  const { ground, complete, progress, sandbox } = deps;
  const { repository, checkout, uncommitted: stayed } = ground;
  const { run, record } = begun;
  const began = Date.now();
  const agent = await deps.enter(run);
  const shared = { repository, run, complete, record, progress };
  const observed: SharedChange[] = [];
  try {
    const sandboxed = sandbox.kind !== "none" && sandbox.coversRefs;
    const proof = await beginProof({ repository, checkout, run, env: process.env, sandboxed });
    let start: LoopStart | undefined = begun.start;
    for (;;) {
      const loop: LoopEnd = await iterate({ ...shared, agent, proof }, options, start);
      const failure = begun.namingFailure ?? loop.namingFailure;
      const end = failure === undefined ? loop : { ...loop, stop: namingStop(loop.stop, failure.message) };
      observed.push(...loop.observed);
      const commits = await commitsBetween(repository.git, run.base, end.tip, { firstParent: true });
      const ending = await finish(shared, end, options).catch(unfinished);
      start = nextStart(ending, end, options.max);
      if (start !== undefined) continue;
      const { iterations, stop, leftOut } = end;
      const elapsedMs = Date.now() - began;
      const report = {
        run,
        checkout,
        stop,
        ending,
        iterations,
        commits,
        stayed,
        elapsedMs,
        leftOut,
        observed,
        sandbox,
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
