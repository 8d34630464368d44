import { spawn } from "node:child_process";
import { openRepository } from "../../src/git/repository.ts";
import type { Agent, TurnEnd } from "../../src/run/agent.ts";
import type { KnownRun } from "../../src/run/known-runs.ts";
import { preflight } from "../../src/run/preflight.ts";
import { type RunDeps, type RunOptions, type RunResult, resumeRun, ultrathink } from "../../src/run/ultrathink.ts";

/** A whole run without a host: the agent of each pass is a piece of shell text. */
export interface ScriptedRun {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Run in the worktree, pass by pass; exit code 70 is a provider error, 130 the user's Escape. */
  readonly passes: readonly string[];
  readonly options?: Partial<RunOptions>;
  /** Replies of the naming model; `fail` has it fail for good. */
  readonly naming?: "answers" | "fail";
  /** Replies in order; the last one repeats. */
  readonly slugs?: readonly string[];
  /** Goes on with this run instead of starting one. */
  readonly resume?: KnownRun;
  /** Where worktrees go. */
  readonly template?: string;
  readonly base?: string;
  readonly progress?: RunDeps["progress"];
  readonly signal?: AbortSignal;
}

export interface ScriptedEnd {
  readonly result: RunResult;
  /** Every message that the agent was sent. */
  readonly sent: readonly string[];
}

export async function scriptedRun({
  cwd,
  env,
  passes,
  options,
  naming = "answers",
  slugs = ["scripted-run"],
  resume,
  template,
  base,
  progress = () => undefined,
  signal,
}: ScriptedRun): Promise<ScriptedEnd> {
  const looked = await preflight(cwd, { env }, { template, base });
  if (looked.kind === "refused") return { result: looked, sent: [] };
  const sent: string[] = [];
  let commits = 0;
  let asked = 0;
  const complete = async ({ system }: { system: string }): Promise<string> => {
    if (naming === "fail") return "I would rather not";
    if (system.startsWith("Task: slug")) return JSON.stringify({ slug: slugs[Math.min(asked++, slugs.length - 1)] });
    if (system.startsWith("Task: merge")) return JSON.stringify({ subject: "Merge scripted work", body: "- merged" });
    return JSON.stringify({ subject: `Scripted commit ${++commits}`, body: "- body" });
  };
  const agentIn = (worktree: string): Agent => ({
    async turn(message): Promise<TurnEnd> {
      sent.push(message);
      const code = await shell(passes[sent.length - 1] ?? "", worktree, env);
      if (code === 70) return { kind: "failed", message: "the provider failed: 529 overloaded" };
      if (code === 130) return { kind: "interrupted", by: { kind: "cancelled-by-interrupt" } };
      return { kind: "completed", gap: new AbortController().signal };
    },
  });
  const deps: RunDeps = {
    ground: { ...looked.ground, repository: await openRepository(cwd, { env }) },
    complete,
    progress,
    signal,
    enter: (run) => agentIn(run.worktree),
    leave: () => undefined,
    sandbox: { kind: "none" },
  };
  const all: RunOptions = { max: 4, land: "auto", reviewInstructions: "Review.", wishes: { include: [] }, ...options };
  const result = await (resume ? resumeRun(deps, resume, all) : ultrathink(deps, "Do the scripted work", all));
  return { result, sent };
}

function shell(script: string, worktree: string, env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { cwd: worktree, env: { ...env, WT: worktree }, stdio: "ignore" });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
