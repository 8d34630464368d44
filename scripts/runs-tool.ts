import { type Static, Type } from "typebox";
import { loadConfig } from "../src/config/config.ts";
import { NamingError } from "../src/naming/ask.ts";
import { knownRuns } from "../src/run/known-runs.ts";
import { landOptions } from "../src/run/land-options.ts";
import { landRun } from "../src/run/land-run.ts";
import { prune } from "../src/run/prune.ts";
import { recorderFor } from "../src/run/record.ts";
import { recoverRuns } from "../src/run/recover-runs.ts";
import { discardRun, undoRun } from "../src/run/run-actions.ts";
import {
  discardedSentence,
  nextActions,
  recoveryLines,
  refusalSentence,
  runDetails,
  runsTable,
} from "../src/ui/runs.ts";
import { type Blocked, blocked } from "../tools/blocked.ts";
import { stopReasonBlocked } from "../tools/stop-reason.ts";
import { StringEnum } from "../tools/string-enum.ts";
import { type AgentTool, type Answer, agentTool, type Call, type ToolDeps } from "../tools/tool.ts";

const Parameters = Type.Object(
  {
    action: StringEnum(["list", "show", "land", "undo", "discard", "recover", "prune"], { description: "What to do." }),
    slug: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "The run." })),
  },
  { additionalProperties: false },
);

/** The runs of a repository for a shell, when Pi is not running. An agent does not get it: runs are the user's. */
export function runsTool(deps: ToolDeps): AgentTool {
  return agentTool<typeof Parameters, object>(deps, {
    name: "runs",
    label: "Runs",
    description: "The runs of this repository.",
    promptSnippet: "The runs of this repository",
    promptGuidelines: [],
    parameters: Parameters,
    executionMode: "sequential",
    run: (call, params) => act(deps, call, params),
  }) as AgentTool;
}

async function act(
  { env }: ToolDeps,
  { repository, signal }: Call,
  { action, slug }: Static<typeof Parameters>,
): Promise<Answer<object> | Blocked> {
  const all = await knownRuns(repository);
  switch (action) {
    case "list":
      return { details: { outcome: "listed", ...all }, text: runsTable(all) };
    case "recover": {
      const recovery = await recoverRuns({ repository, env, signal });
      return {
        details: { outcome: "recovered", ...recovery },
        text: recoveryLines(recovery).join("\n") || "Nothing was half-done.",
      };
    }
    case "prune": {
      const pruned = await prune(repository);
      return { details: { outcome: "pruned", ...pruned }, text: `Forgot ${pruned.ids.length} runs and landings.` };
    }
  }
  const known = all.runs.find(({ run }) => run.slug === slug);
  if (known === undefined)
    return blocked(
      "no-such-run",
      `There is no run ${slug ?? "without a slug"}.`,
      "Name one that the action list shows.",
    );
  if (action === "show") return { details: { outcome: "shown", ...known }, text: runDetails(known) };
  if (!nextActions(known).includes(action)) {
    return blocked(
      "wrong-status",
      refusalSentence({ kind: "wrong-status", status: known.status }, known),
      "See the action show.",
    );
  }
  const { run } = known;
  switch (action) {
    case "land": {
      const complete = () => Promise.reject(new NamingError("there is no naming model outside of Pi"));
      const record = recorderFor(repository, run.id);
      const { end } = await landRun(
        { repository, run, complete, record, progress: () => undefined },
        { ...landOptions(await loadConfig()), signal },
      );
      const branches = { source: run.branch, target: run.original };
      if (end.step === "landed")
        return {
          details: { outcome: "landed", run: run.slug, ...end.outcome },
          text: `Landed ${run.slug} on ${run.original}.`,
        };
      const { reason } = end;
      return reason.kind === "conflicted"
        ? blocked(
            "conflicted",
            `${run.original} and ${run.branch} conflict. Nothing was changed.`,
            "Resume it in Pi.",
            reason,
          )
        : stopReasonBlocked(reason, branches);
    }
    case "undo": {
      const end = await undoRun(repository, known);
      if (end.kind === "undone")
        return {
          details: { outcome: "undone", run: run.slug, to: end.to },
          text: `${run.original} is back at ${end.to}.`,
        };
      return blocked(end.refusal.kind, refusalSentence(end.refusal, known), "See the action show.");
    }
    case "discard": {
      const end = await discardRun(repository, known);
      if (end.kind === "discarded")
        return {
          details: { outcome: "discarded", run: run.slug, tip: end.tip, uncommitted: end.uncommitted ?? null },
          text: discardedSentence(end, known),
        };
      return blocked(end.refusal.kind, refusalSentence(end.refusal, known), "See the action show.");
    }
  }
}
