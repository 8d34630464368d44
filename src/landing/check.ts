import { gitEnv } from "../git/git.ts";
import type { Repository } from "../git/repository.ts";
import { runProcess } from "../process/run-process.ts";
import { onBench } from "./bench.ts";
import type { Built, Event } from "./state.ts";

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;
/** What people and models need of a failed check: its end. */
const TAIL_LINES = 60;

export interface CheckContext {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  /** Receives what the command prints, as it does. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Runs the check command on exactly the candidate's files. Without one, everything passes. */
export async function check(
  repository: Repository,
  { request, plan, candidate }: Built,
  { env, signal, onOutput }: CheckContext,
): Promise<Event> {
  if (request.check === undefined) return { type: "passed" };
  const { command, timeoutMs } = request.check;
  const { exit, stdout, stderr } = await onBench(repository, request, candidate.oid, (_git, cwd) =>
    runProcess("sh", ["-c", command], {
      cwd,
      env: { ...gitEnv(env), ULTRATHINK_TARGET: plan.targetTip, ULTRATHINK_CANDIDATE: candidate.oid },
      timeoutMs,
      outputLimitBytes: OUTPUT_LIMIT_BYTES,
      signal,
      onOutput,
    }),
  );
  if (exit.kind === "exited" && exit.code === 0) return { type: "passed" };
  if (exit.kind === "aborted") return { type: "refused", reason: { kind: "aborted" } };
  const ended = exit.kind === "exited" ? `exit code ${exit.code}` : exit.kind === "signalled" ? exit.signal : exit.kind;
  const output = `${tail(`${stdout}${stderr}`)}\n(${ended})`;
  return { type: "refused", reason: { kind: "check-failed", command, output } };
}

function tail(text: string): string {
  return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
