import { loadConfig } from "../config/config.ts";
import { completeWith } from "../host/complete.ts";
import { noteSentence, reasonSentence, short } from "../landing/words.ts";
import type { KnownRun } from "../run/known-runs.ts";
import { landOptions } from "../run/land-options.ts";
import { landRun } from "../run/land-run.ts";
import { recorderFor } from "../run/record.ts";
import { discardRun, undoRun } from "../run/run-actions.ts";
import { resumeRun } from "../run/ultrathink.ts";
import { statusLine } from "../ui/progress.ts";
import { discardedSentence, nextActions, type RunAction, refusalSentence } from "../ui/runs.ts";
import { namingModel } from "./naming-model.ts";
import type { Invocation } from "./runs.ts";
import { runInSession } from "./session-run.ts";

/** Does what was asked for with one run. Resolves to whether a script may take it for a success. */
export async function act(invocation: Invocation, known: KnownRun, action: RunAction): Promise<boolean> {
  const { channel, repository } = invocation;
  if (!nextActions(known).includes(action)) {
    await channel.refuse(refusalSentence({ kind: "wrong-status", status: known.status }, known));
    return false;
  }
  switch (action) {
    case "resume":
      return resume(invocation, known);
    case "land":
      return land(invocation, known);
    case "undo": {
      const end = await undoRun(repository, known);
      if (end.kind === "undone") {
        await channel.say(
          `undone: ${known.run.original} is back at ${short(end.to)}, your uncommitted files are as they were`,
        );
        return true;
      }
      await channel.refuse(refusalSentence(end.refusal, known));
      return false;
    }
    case "discard": {
      const end = await discardRun(repository, known);
      if (end.kind === "discarded") await channel.say(discardedSentence(end, known));
      else await channel.refuse(refusalSentence(end.refusal, known));
      return end.kind === "discarded";
    }
  }
}

function resume({ ctx, channel, runs, tui }: Invocation, known: KnownRun): Promise<boolean> {
  return runInSession({
    ctx,
    channel,
    runs,
    tui,
    flags: { yes: true },
    begin: (deps, options) => resumeRun(deps, known, options),
  });
}

async function land({ ctx, channel, repository }: Invocation, { run }: KnownRun): Promise<boolean> {
  const config = await loadConfig();
  const naming = await namingModel(ctx, config, false, new AbortController().signal);
  if (naming.kind !== "model") {
    await channel.refuse("no model is available for the merge message: log in with /login and try again.");
    return false;
  }
  const { end } = await landRun(
    {
      repository,
      run,
      complete: completeWith(ctx, naming.model),
      record: recorderFor(repository, run.id),
      progress: (progress) => channel.status(statusLine(progress)),
    },
    landOptions(config),
  ).finally(() => channel.status(undefined));
  if (end.step === "stopped") {
    const branches = { source: run.branch, target: run.original };
    await channel.refuse(`not landed: ${reasonSentence(end.reason, branches)} Nothing in your checkout changed.`);
    return false;
  }
  const notes = end.notes.map((note) => `\n  note: ${noteSentence(note)}`).join("");
  await channel.say(`landed ${run.slug} on ${run.original}${notes}\n  undo: /ultrathink-runs undo ${run.slug}`);
  return true;
}
