import type { ExtensionAPI, ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { type Config, ConfigError, loadConfig } from "../config/config.ts";
import { GitError } from "../git/git-error.ts";
import { completeWith } from "../host/complete.ts";
import { modeOf, writeStdout } from "../host/host.ts";
import type { Tui } from "../host/tui.ts";
import { type Ground, preflight } from "../run/preflight.ts";
import { REVIEW_INSTRUCTIONS } from "../run/prompts.ts";
import { type RunReport, succeeded } from "../run/report.ts";
import { ultrathink } from "../run/ultrathink.ts";
import { type Channel, openChannel } from "../ui/channel.ts";
import { statusLine, transcriptLines } from "../ui/progress.ts";
import { summary } from "../ui/summary.ts";
import type { ActiveRun, ActiveRuns } from "./active-run.ts";
import { FLAGS, type Flags, parseArguments, usage } from "./arguments.ts";
import { namingModel } from "./naming-model.ts";
import { watchEscape } from "./watch-escape.ts";

const MAX_ITERATIONS = 4;

export function registerUltrathink(pi: ExtensionAPI, runs: ActiveRuns, tui: typeof Tui): void {
  pi.registerCommand("ultrathink", {
    description: "Work on a prompt in a git worktree of its own, review until nothing changes, then land it",
    getArgumentCompletions: (prefix) => {
      if (!/^--\w*$/.test(prefix)) return null;
      const items = FLAGS.map(({ name, help }) => ({ value: `--${name} `, label: `--${name}`, description: help }));
      return items.filter(({ label }) => label.startsWith(prefix));
    },
    async handler(text, ctx) {
      const channel = openChannel(pi, ctx);
      const work = start(pi, ctx, runs, tui, channel, text).catch((error: unknown) => failed(channel, error));
      // With a UI the handler returns at once: blocking would lose typed text, and RPC has a response limit.
      if (ctx.hasUI) return;
      const alive = setInterval(() => undefined, 60_000); // nothing else keeps the process waiting between turns
      try {
        if (!(await work)) process.exitCode = 1;
        await ctx.waitForIdle();
      } finally {
        clearInterval(alive);
      }
    },
  });
}

/** Resolves to whether a script may take it for a success. */
async function start(
  pi: ExtensionAPI,
  ctx: ExtensionCommandContext,
  runs: ActiveRuns,
  tui: typeof Tui,
  channel: Channel,
  text: string,
): Promise<boolean> {
  const parsed = parseArguments(text);
  if (parsed.kind === "invalid") return refuse(channel, `${parsed.problem}\n${usage()}`);
  if (parsed.kind === "help" || parsed.prompt === "") {
    await channel.say(usage());
    return parsed.kind === "help";
  }
  const { flags, prompt } = parsed;
  if (!ctx.isIdle())
    return refuse(channel, "the agent is busy: wait for it to finish, or press Escape, and start again.");

  const looked = await preflight(ctx.cwd, {}, flags.base);
  if (looked.kind === "refused") return refuse(channel, looked.message);
  const config = await loadConfig();
  const { model } = ctx;
  if (model === undefined || !ctx.modelRegistry.hasConfiguredAuth(model)) {
    return refuse(channel, "no model is available: choose one with /model, or log in with /login, and start again.");
  }
  const active = runs.open(ctx);
  if (active === undefined) {
    return refuse(channel, "a run is going on in this session already: wait for it, or press Escape to end it.");
  }
  const unwatch = watchEscape(ctx, tui, () => active.interrupt({ kind: "cancelled-by-interrupt" }));
  try {
    return await go({ pi, ctx, channel, active, config, flags, prompt, ground: looked.ground });
  } finally {
    unwatch();
    channel.status(undefined);
    // What the user typed to step in is delivered now that the run has let go.
    for (const content of active.close()) pi.sendUserMessage(content, { deliverAs: "followUp" });
  }
}

interface Going {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionCommandContext;
  readonly channel: Channel;
  readonly active: ActiveRun;
  readonly config: Config;
  readonly flags: Flags;
  readonly prompt: string;
  readonly ground: Ground;
}

async function go({ ctx, channel, active, config, flags, prompt, ground }: Going): Promise<boolean> {
  const naming = await namingModel(ctx, config, ctx.hasUI && !flags.yes);
  if (naming.kind === "dismissed") return refuse(channel, "no naming model was chosen, so nothing was started.");
  if (naming.kind === "none")
    return refuse(channel, "no model is available for names and messages: log in with /login.");
  const result = await ultrathink(
    {
      ground,
      complete: completeWith(ctx, naming.model),
      progress: (progress) => {
        const status = statusLine(progress);
        if (status !== undefined) channel.status(status);
        for (const line of transcriptLines(progress)) channel.note(line);
      },
      enter: (run) => active.enter(ground, run, config.allowTools ?? []),
      leave: () => active.leave(),
      signal: active.preparing,
    },
    {
      task: prompt,
      max: flags.max ?? config.max ?? MAX_ITERATIONS,
      land: flags.land ?? config.land ?? "auto",
      reviewInstructions: config.reviewInstructions ?? REVIEW_INSTRUCTIONS,
    },
  );
  if (result.kind === "refused") return refuse(channel, result.message);
  await tell(channel, ctx, result.report);
  return succeeded(result.report);
}

async function tell(channel: Channel, ctx: ExtensionCommandContext, report: RunReport): Promise<void> {
  const text = summary(report);
  channel.message(text, report);
  // Print mode prints the last answer of the agent only, and a summary is none.
  if (modeOf(ctx) === "print") await writeStdout(`${text}\n`);
}

async function refuse(channel: Channel, message: string): Promise<boolean> {
  await channel.refuse(message);
  return false;
}

async function failed(channel: Channel, error: unknown): Promise<boolean> {
  if (error instanceof ConfigError) return refuse(channel, error.message);
  if (error instanceof GitError) {
    const { args, cwd, stderr } = error.command;
    return refuse(channel, `${error.message}\n  command: git ${args.join(" ")}\n  in: ${cwd}\n${stderr}`);
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return refuse(channel, `an unexpected failure; your checkout is as it was: ${message}`);
}
