import type { ExtensionAPI, ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { loadConfig } from "../config/config.ts";
import { GitError } from "../git/git-error.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { completeWith } from "../host/complete.ts";
import { noteSentence, reasonSentence, short } from "../landing/words.ts";
import { type KnownRun, knownRuns } from "../run/known-runs.ts";
import { landRun } from "../run/land-run.ts";
import { recorderFor } from "../run/record.ts";
import { recoverRuns } from "../run/recover-runs.ts";
import { discardRun, undoRun } from "../run/run-actions.ts";
import { type Channel, openChannel } from "../ui/channel.ts";
import {
  discardedSentence,
  nextActions,
  type RunAction,
  recoveryLines,
  refusalSentence,
  runDetails,
  runsTable,
} from "../ui/runs.ts";
import { namingModel } from "./naming-model.ts";

const ACTIONS = ["show", "land", "undo", "discard"] as const;
const USAGE = `/ultrathink-runs            every run of this repository
/ultrathink-runs --json     the same for scripts
/ultrathink-runs show|land|undo|discard <slug>`;

export function registerRuns(pi: ExtensionAPI): void {
  pi.registerCommand("ultrathink-runs", {
    description: "The runs of this repository: inspect, land, undo, discard",
    getArgumentCompletions: async (prefix) => {
      const [action = "", slug] = prefix.split(/\s+/, 2);
      if (slug === undefined)
        return ACTIONS.filter((each) => each.startsWith(action)).map((each) => ({ value: `${each} `, label: each }));
      const { runs } = await knownRuns(await openRepository(process.cwd()));
      const fitting = runs.filter(({ run }) => run.slug.startsWith(slug));
      return fitting.map(({ run, status }) => ({
        value: `${action} ${run.slug}`,
        label: run.slug,
        description: status,
      }));
    },
    async handler(text, ctx) {
      const channel = openChannel(pi, ctx);
      const done = await command(text.trim(), ctx, channel).catch((error: unknown) => {
        if (!(error instanceof GitError)) throw error;
        return refuse(channel, error.message);
      });
      if (!done && !ctx.hasUI) process.exitCode = 1;
    },
  });
  pi.on("session_start", async (_event, ctx) => {
    const channel = openChannel(pi, ctx);
    for (const line of await recovered(ctx.cwd)) channel.note(line);
  });
}

/** Finishes what a process that is gone has left half-done here. Outside of a repository there is nothing. */
async function recovered(cwd: string): Promise<string[]> {
  try {
    const repository = await openRepository(cwd);
    return recoveryLines(await recoverRuns({ repository, env: process.env }));
  } catch (error) {
    if (error instanceof GitError && ["not-a-repository", "unsafe-owner", "not-found"].includes(error.kind)) return [];
    return [`an interrupted landing could not be looked after: ${error instanceof Error ? error.message : error}`];
  }
}

async function command(text: string, ctx: ExtensionCommandContext, channel: Channel): Promise<boolean> {
  const repository = await openRepository(ctx.cwd);
  const [word = "", slug = ""] = text.split(/\s+/);
  if (word === "--json") {
    await channel.say(JSON.stringify(await knownRuns(repository), null, 2));
    return true;
  }
  if (word === "") return ctx.hasUI ? choose(repository, ctx, channel) : list(repository, ctx, channel);
  const action = ACTIONS.find((each) => each === word);
  if (action === undefined || slug === "") return refuse(channel, USAGE);
  const known = (await knownRuns(repository)).runs.find(({ run }) => run.slug === slug);
  if (known === undefined) return refuse(channel, `there is no run ${slug}: /ultrathink-runs lists them.`);
  if (action === "show") {
    await channel.say(runDetails(known));
    return true;
  }
  return act(repository, ctx, channel, known, action);
}

async function list(repository: Repository, _ctx: ExtensionCommandContext, channel: Channel): Promise<boolean> {
  await channel.say(runsTable(await knownRuns(repository)));
  return true;
}

/** Dialogs, in the terminal and over RPC: a run, then what to do with it. */
async function choose(repository: Repository, ctx: ExtensionCommandContext, channel: Channel): Promise<boolean> {
  const all = await knownRuns(repository);
  if (all.runs.length === 0) return list(repository, ctx, channel);
  const lines = runsTable({ ...all, unreadable: [] }).split("\n");
  const picked = await ctx.ui.select("Runs of this repository", lines);
  const known = all.runs[lines.indexOf(picked ?? "")];
  if (known === undefined) return true;
  const actions = nextActions(known);
  if (actions.length === 0) {
    await channel.say(runDetails(known));
    return true;
  }
  const action = await ctx.ui.select(runDetails(known), ["show", ...actions]);
  if (action === "show") await channel.say(runDetails(known));
  const chosen = actions.find((each) => each === action);
  return chosen === undefined ? true : act(repository, ctx, channel, known, chosen);
}

async function act(
  repository: Repository,
  ctx: ExtensionCommandContext,
  channel: Channel,
  known: KnownRun,
  action: RunAction,
): Promise<boolean> {
  switch (action) {
    case "land":
      return land(repository, ctx, channel, known);
    case "undo": {
      const end = await undoRun(repository, known);
      if (end.kind === "refused") return refuse(channel, refusalSentence(end.refusal, known));
      await channel.say(
        `undone: ${known.run.original} is back at ${short(end.to)}, your uncommitted files are as they were`,
      );
      return true;
    }
    case "discard": {
      const end = await discardRun(repository, known);
      if (end.kind === "refused") return refuse(channel, refusalSentence(end.refusal, known));
      await channel.say(discardedSentence(end, known));
      return true;
    }
  }
}

async function land(
  repository: Repository,
  ctx: ExtensionCommandContext,
  channel: Channel,
  known: KnownRun,
): Promise<boolean> {
  const { run } = known;
  if (!nextActions(known).includes("land")) {
    return refuse(channel, refusalSentence({ kind: "wrong-status", status: known.status }, known));
  }
  const config = await loadConfig();
  const naming = await namingModel(ctx, config, false, new AbortController().signal);
  if (naming.kind !== "model")
    return refuse(channel, "no model is available for the merge message: log in with /login.");
  const { end } = await landRun(
    {
      repository,
      run,
      complete: completeWith(ctx, naming.model),
      record: recorderFor(repository, run.id),
      progress: () => undefined,
    },
    { policy: config.land === undefined || config.land === "none" ? "auto" : config.land },
  );
  if (end.step === "stopped") {
    const branches = { source: run.branch, target: run.original };
    return refuse(channel, `not landed: ${reasonSentence(end.reason, branches)} Nothing in your checkout changed.`);
  }
  const notes = end.notes.map((note) => `\n  note: ${noteSentence(note)}`).join("");
  await channel.say(`landed ${run.slug} on ${run.original}${notes}\n  undo: /ultrathink-runs undo ${run.slug}`);
  return true;
}

async function refuse(channel: Channel, message: string): Promise<boolean> {
  await channel.refuse(message);
  return false;
}
