import type { ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { type Config, ConfigError, loadConfig } from "../config/config.ts";
import { GitError } from "../git/git-error.ts";
import { completeWith } from "../host/complete.ts";
import type { Tui } from "../host/tui.ts";
import { detectSandbox, type SandboxInForce } from "../isolation/detect-sandbox.ts";
import { CHECK_LIMIT_MS } from "../run/land-options.ts";
import { packingAgent } from "../run/packing-agent.ts";
import { type Ground, preflight } from "../run/preflight.ts";
import { REVIEW_INSTRUCTIONS } from "../run/prompts.ts";
import { succeeded } from "../run/report.ts";
import type { RunDeps, RunOptions, RunResult } from "../run/ultrathink.ts";
import type { Channel } from "../ui/channel.ts";
import { statusLine, transcriptText } from "../ui/progress.ts";
import { summary } from "../ui/summary.ts";
import type { Setup } from "../worktree/setup.ts";
import type { ActiveRun, ActiveRuns } from "./active-run.ts";
import type { Flags } from "./arguments.ts";
import { namingModel } from "./naming-model.ts";
import { redirectionFor } from "./redirection.ts";
import { watchEscape } from "./watch-escape.ts";

const MAX_ITERATIONS = 4;
const SETUP_MINUTES = 10;

/** What drives the agent: a new run, or one that goes on. */
export type Begin = (deps: RunDeps, options: RunOptions) => Promise<RunResult>;

export interface SessionRun {
  readonly ctx: ExtensionCommandContext;
  readonly channel: Channel;
  readonly runs: ActiveRuns;
  readonly tui: typeof Tui;
  readonly flags: Flags;
  readonly begin: Begin;
}

/**
 * With a UI the command returns at once: blocking would lose typed text, and RPC has a response limit. Without one
 * Pi would end as soon as it returns, so it waits, and tells the outcome by the exit code.
 *
 * @param work resolves to whether a script may take it for a success.
 */
export async function awaitWithoutUi(ctx: ExtensionCommandContext, work: () => Promise<boolean>): Promise<void> {
  const done = work();
  if (ctx.hasUI) return;
  const alive = setInterval(() => undefined, 60_000); // nothing else keeps the process waiting between turns
  try {
    if (!(await done)) process.exitCode = 1;
    await ctx.waitForIdle();
  } finally {
    clearInterval(alive);
  }
}

/** Resolves to whether a script may take it for a success. Never rejects. */
export async function runInSession(session: SessionRun): Promise<boolean> {
  const { ctx, channel, runs, tui, flags } = session;
  const active = runs.open(ctx);
  if (active === undefined) {
    return refuse(channel, "a run is going on in this session already: wait for it, or press Escape to end it.");
  }
  const unwatch = watchEscape(ctx, tui, () => active.interrupt({ kind: "cancelled-by-interrupt" }));
  try {
    if (!ctx.isIdle())
      return await refuse(channel, "the agent is busy: wait for it to finish, or press Escape, and start again.");
    const config = await loadConfig();
    const looked = await preflight(ctx.cwd, {}, { base: flags.base, template: config.worktrees });
    if (looked.kind === "refused") return await refuse(channel, looked.message);
    const { ground } = looked;
    const detected = await detectSandbox({
      mode: config.sandbox ?? "auto",
      network: config.sandboxNetwork ?? true,
      checkout: ground.checkout,
      commonDir: ground.repository.commonDir,
      env: process.env,
    });
    if (detected.kind === "refused") return await refuse(channel, detected.message);
    return await run({ ...session, active, config, ground, sandbox: detected.sandbox });
  } catch (error) {
    return active.sessionHasEnded() ? false : await refuse(channel, failure(error));
  } finally {
    unwatch();
    await active.close();
    if (!active.sessionHasEnded()) channel.status(undefined);
  }
}

interface Run extends SessionRun {
  readonly active: ActiveRun;
  readonly config: Config;
  readonly ground: Ground;
  readonly sandbox: SandboxInForce;
}

async function run({ ctx, channel, active, config, flags, begin, ground, sandbox }: Run): Promise<boolean> {
  const { model } = ctx;
  if (model === undefined || !ctx.modelRegistry.hasConfiguredAuth(model)) {
    return refuse(channel, "no model is available: choose one with /model, or log in with /login, and start again.");
  }
  const naming = await namingModel(ctx, config, ctx.hasUI && !flags.yes, active.preparing);
  if (active.preparing.aborted) return cancelled(channel, active);
  if (naming.kind === "dismissed") return refuse(channel, "no naming model was chosen, so nothing was started.");
  if (naming.kind === "none")
    return refuse(channel, "no model is available for names and messages: log in with /login and start again.");
  if (naming.note !== undefined) channel.note(naming.note);
  const check = flags.check ?? config.check;
  const { allowTools } = config;
  const result = await begin(
    {
      ground,
      complete: completeWith(ctx, naming.model),
      progress: (progress) => {
        if (active.sessionHasEnded()) return;
        const status = statusLine(progress);
        if (status !== undefined) channel.status(status);
        const text = transcriptText(progress);
        if (text !== undefined) channel.note(text);
      },
      enter: async (identity) => {
        const redirection = await redirectionFor(ctx.cwd, ground, identity, { allowTools, sandbox });
        const agent = active.enter(identity, redirection);
        return sandbox.kind === "none" ? agent : packingAgent(agent, ground.repository);
      },
      leave: () => active.leave(),
      sandbox,
      signal: active.preparing,
    },
    {
      max: flags.max ?? config.max ?? MAX_ITERATIONS,
      land: flags.land ?? config.land ?? "auto",
      reviewInstructions: config.reviewInstructions ?? REVIEW_INSTRUCTIONS,
      wishes: { include: config.include ?? [], setup: setupOf(config) },
      ...(check === undefined ? {} : { check: { command: check, timeoutMs: CHECK_LIMIT_MS } }),
    },
  );
  if (result.kind === "refused") return refuse(channel, result.message);
  if (result.kind === "cancelled") return cancelled(channel, active, result.tookBack);
  await channel.report(summary(result.report), result.report);
  return succeeded(result.report);
}

/** Of the user's own configuration, so nobody has to approve it. */
function setupOf({ setup, setupMinutes = SETUP_MINUTES }: Config): Setup | undefined {
  return setup === undefined ? undefined : { command: setup, timeoutMs: setupMinutes * 60_000 };
}

async function cancelled(channel: Channel, active: ActiveRun, tookBack = false): Promise<boolean> {
  const when = tookBack ? "; the new worktree was taken back, nothing of it stays." : " before anything was created.";
  if (!active.sessionHasEnded()) await channel.say(`ultrathink: cancelled${when}`);
  return false;
}

async function refuse(channel: Channel, message: string): Promise<boolean> {
  await channel.refuse(message);
  return false;
}

function failure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const kept = "A run that had begun keeps its branch and worktree (git worktree list).";
  if (error instanceof GitError) {
    const { args, cwd, stderr } = error.command;
    return `${error.message}\n${kept}\n  command: git ${args.join(" ")}\n  in: ${cwd}\n${stderr}`;
  }
  return `an unexpected failure. ${kept}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
