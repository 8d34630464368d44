import { pathList, reasonSentence, short } from "../landing/words.ts";
import type { KnownRun, KnownRuns } from "../run/known-runs.ts";
import type { Recovery } from "../run/recover-runs.ts";
import type { ActionRefusal, Discarded } from "../run/run-actions.ts";
import { stopSentence } from "../run/stop.ts";

const MINUTE_MS = 60_000;

/** One line for each run: name, state, age, branch. */
export function runsTable({ runs, unreadable }: KnownRuns, now = Date.now()): string {
  if (runs.length === 0 && unreadable.length === 0) return "no runs in this repository yet";
  const rows = runs.map(({ run, status, startedAt, iterations }) => [
    run.slug,
    status,
    age(now - startedAt),
    `${iterations} commit${iterations === 1 ? "" : "s"}`,
    `${run.branch} → ${run.original}`,
  ]);
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, cell.length)), []);
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...unreadable.map(({ id, why }) => `${id}: its journal is left alone: ${why}`)].join("\n");
}

function age(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 60 / 24)}d ago`;
}

/** What is known of one run, and what can be done with it. */
export function runDetails(known: KnownRun): string {
  const { run, status, stop, landing, tip } = known;
  const branches = { source: run.branch, target: run.original };
  return [
    `${run.slug}: ${status}`,
    `  task: ${run.task}`,
    `  branch ${run.branch} at ${short(tip)}, from ${run.original} ${short(run.base)}`,
    ...(status === "preserved" || status === "interrupted" || status === "running"
      ? [`  worktree ${run.worktree}`]
      : []),
    ...(stop === undefined ? [] : [`  ended: ${stopSentence(stop)}`]),
    ...(landing?.step === "stopped" ? [`  not landed: ${reasonSentence(landing.reason, branches)}`] : []),
    ...nextActions(known).map((action) => `  ${action}: /ultrathink-runs ${action} ${run.slug}`),
  ].join("\n");
}

export type RunAction = "resume" | "land" | "undo" | "discard";

/** What a run's state allows. */
export function nextActions({ status }: KnownRun): RunAction[] {
  switch (status) {
    case "preserved":
    case "interrupted":
      return ["resume", "land", "discard"];
    case "landed":
      return ["undo"];
    default:
      return [];
  }
}

/** Why an action was not done. Nothing was changed then. */
export function refusalSentence(refusal: ActionRefusal, { run }: KnownRun): string {
  switch (refusal.kind) {
    case "wrong-status":
      return `${run.slug} is ${refusal.status}, so this cannot be done with it. Nothing was changed.`;
    case "stopped":
      return `${reasonSentence(refusal.reason, { source: run.branch, target: run.original })} Nothing was changed.`;
    case "nothing-to-undo":
      return `${refusal.why}. Nothing was changed.`;
    case "nested-repository":
      return `its worktree holds repositories of their own, whose commits may be nowhere else: ${pathList(refusal.paths)}. Move them first. Nothing was changed.`;
    case "not-deleted":
      return `its worktree ${refusal.worktree} cannot be deleted: ${refusal.why}. Mend that and discard it again; branch and worktree are kept.`;
  }
}

export function discardedSentence({ tip, uncommitted }: Discarded & { kind: "discarded" }, { run }: KnownRun): string {
  const kept = uncommitted ?? tip;
  const extra = uncommitted === undefined ? "" : `, what was in no commit on top as ${short(uncommitted)}`;
  return `discarded ${run.slug}: worktree and branch are gone. Its commits are kept at ${short(tip)}${extra}.\n  back: git branch ${run.branch} ${short(kept)}`;
}

/** One line for each thing that a start of Pi found half-done; none when all was in order. */
export function recoveryLines({ landings, waiting, interrupted, integrations }: Recovery): string[] {
  return [
    ...landings.map(({ known: { run }, end }) =>
      end.step === "landed"
        ? `the interrupted landing of ${run.slug} was finished: ${run.original} has its work`
        : `the interrupted landing of ${run.slug} was taken back: ${run.original} and your files are as before · /ultrathink-runs land ${run.slug}`,
    ),
    ...integrations.map(({ request, step }) =>
      step === "landed"
        ? `the interrupted integration of ${request.source} into ${request.target} was finished`
        : `the interrupted integration of ${request.source} into ${request.target} was taken back`,
    ),
    ...waiting.map(({ known: { run }, why }) => `the interrupted landing of ${run.slug} waits: ${why}`),
    ...interrupted.map(({ run }) => `run ${run.slug} was interrupted and is kept · /ultrathink-runs show ${run.slug}`),
  ];
}
