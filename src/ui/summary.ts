import { quote } from "../isolation/redirect.ts";
import type { Outcome } from "../landing/state.ts";
import { noteSentence, pathList, plural, reasonSentence, short } from "../landing/words.ts";
import { type LeftOut, SIZE_LIMIT_BYTES } from "../run/iteration.ts";
import type { RunReport } from "../run/report.ts";
import { stopSentence } from "../run/stop.ts";
import { changeSentence } from "./change-sentence.ts";
import { sandboxSentence } from "./sandbox-sentence.ts";

/** The run's work log: what happened, what is safe, what to type next. Plain text, for people and for the model. */
export function summary(report: RunReport): string {
  const where = `The working directory is your checkout again (branch ${report.run.original}).`;
  const files = [...leftOutLines(report), ...ignoredLines(report), ...stayedLines(report), ...observedLines(report)];
  const confined = `  ${sandboxSentence(report.sandbox)}`;
  return [headline(report), ...body(report), ...files, confined, where].join("\n");
}

/** In a run's time the user goes on working: told, because a command of the agent's may have done it as well. */
function observedLines({ observed, run, sandbox }: RunReport): string[] {
  const lines = observed.map((change) => changeSentence(change, run.original)).filter((line) => line !== undefined);
  return lines.length === 0
    ? []
    : [
        `  changed meanwhile, by you${sandbox.kind === "none" ? " or by a command" : ""}:`,
        ...new Set(lines.map((line) => `      ${line}`)),
      ];
}

function ignoredLines({ ending }: RunReport): string[] {
  const gone = ending.kind === "landed" || ending.kind === "nothing-to-land" ? ending.ignored : [];
  return gone.length === 0 ? [] : [`  ignored files of the worktree went with it: ${pathList(gone)}`];
}

function leftOutLines({ leftOut }: RunReport): string[] {
  const pathsOf = (why: LeftOut["why"]) => leftOut.filter((each) => each.why === why).map(({ path }) => path);
  const nested = pathsOf("nested-repository");
  const large = pathsOf("too-large");
  const copies = pathsOf("copied-in");
  const limit = `${SIZE_LIMIT_BYTES / 1024 / 1024} MiB`;
  return [
    ...(nested.length === 0 ? [] : [`  not committed, repositories of their own: ${pathList(nested)}`]),
    ...(large.length === 0 ? [] : [`  not committed, larger than ${limit}: ${pathList(large)}`]),
    ...(copies.length === 0
      ? []
      : [`  not committed, copied from your checkout and ignored there: ${pathList(copies)}`]),
  ];
}

function headline({ run, ending, stop, iterations, commits, elapsedMs }: RunReport): string {
  const numbers = [plural(commits.length, "commit"), plural(iterations, "iteration"), duration(elapsedMs)].join(" · ");
  switch (ending.kind) {
    case "landed":
      return `✔ landed on ${run.original} ${landedHow(ending.outcome)} · ${numbers}`;
    case "nothing-to-land":
      return `${stop.kind === "no-git-changes" ? "✔" : "✖"} nothing to land · ${numbers}`;
    case "preserved":
      return `${ending.asAsked ? "✔ kept, not landed, as asked" : "✖ not landed"} · ${numbers}`;
    case "unfinished":
      return `✖ not finished · ${numbers}`;
  }
}

function body(report: RunReport): string[] {
  const { run, ending, stop, commits } = report;
  switch (ending.kind) {
    case "landed": {
      const { outcome, notes, message } = ending;
      const merge = outcome.kind === "merge" && message !== undefined ? ["  merge commit:", ...indented(message)] : [];
      const removed = notes.some(({ kind }) => kind === "worktree-kept")
        ? []
        : ["  worktree and scratch branch removed"];
      return [
        `  from ${run.branch} onto ${run.original}${holderNote(outcome, report.checkout)} · ${stopSentence(stop)}`,
        ...commitLines(report),
        ...merge,
        ...notes.map((note) => `  note: ${noteSentence(note)}`),
        ...removed,
        ...undoLines(outcome, run.slug),
      ];
    }
    case "nothing-to-land":
      if (ending.kept === undefined) return [`  ${stopSentence(stop)}; worktree and scratch branch removed`];
      return [`  ${stopSentence(stop)}`, `  kept: ${ending.kept.worktree}: ${ending.kept.why}`];
    case "preserved": {
      const branches = { source: run.branch, target: run.original };
      const why = ending.reason === undefined ? stopSentence(stop) : reasonSentence(ending.reason, branches);
      const open =
        ending.uncommitted > 0 ? [`  ${plural(ending.uncommitted, "file")} in that worktree not committed yet`] : [];
      return [
        ...indented(why, "  "),
        ...(ending.reason === undefined ? [] : ["  Nothing in your checkout changed."]),
        ...commitLines(report),
        `  kept: branch ${run.branch} (${plural(commits.length, "commit")})${ending.worktreeGone ? "; its worktree is gone" : `, worktree ${run.worktree}`}`,
        ...open,
        ...nextSteps(report),
      ];
    }
    case "unfinished":
      return [
        ...indented(`${stopSentence(stop)}; then git failed: ${ending.message}`, "  "),
        ...commitLines(report),
        `  look before you go on: git worktree list, git status, git log ${run.original} ${run.branch}`,
      ];
  }
}

function landedHow(outcome: Outcome): string {
  switch (outcome.kind) {
    case "fast-forward":
      return `by fast-forward, ${short(outcome.from)} → ${short(outcome.to)}`;
    case "rebase":
      return `by rebase and fast-forward, ${short(outcome.from)} → ${short(outcome.to)}`;
    case "merge":
      return `with a merge commit, ${short(outcome.from)} → ${short(outcome.to)}`;
    case "squash":
      return `as one squashed commit, ${short(outcome.from)} → ${short(outcome.to)}`;
    case "undo":
      return `taken back, ${short(outcome.from)} → ${short(outcome.to)}`;
    case "already-integrated":
      return outcome.equalTree ? "already: it has the same changes" : "already";
  }
}

function undoLines(outcome: Outcome, slug: string): string[] {
  return outcome.kind === "already-integrated" ? [] : [`  undo: /ultrathink-runs undo ${slug}`];
}

function holderNote(outcome: Outcome, checkout: string): string {
  if (outcome.kind === "already-integrated" || outcome.holder === checkout) return "";
  return outcome.holder === undefined
    ? " (checked out nowhere, only the branch moved)"
    : ` (checked out in ${outcome.holder})`;
}

function commitLines({ commits, ending }: RunReport): string[] {
  const outcome = ending.kind === "landed" ? ending.outcome : undefined;
  const rewritten = outcome !== undefined && outcome.kind !== "already-integrated" ? outcome.rewritten : [];
  return commits.flatMap(({ oid, subject, body }) => {
    const to = rewritten.find(({ from }) => from === oid)?.to;
    const name = to === undefined ? short(oid) : `${short(oid)} → ${short(to)}`;
    return [`  ${name}  ${subject}`, ...indented(body)];
  });
}

function nextSteps({ run, ending, commits }: RunReport): string[] {
  if (ending.kind !== "preserved") return [];
  const worktree = shellWord(run.worktree);
  const steps: string[] = [];
  if (ending.uncommitted > 0) steps.push(`look: git -C ${worktree} status`);
  const resumes = ending.reason?.kind === "conflicted" ? `   (the agent merges ${run.original} and resolves)` : "";
  steps.push(`resume: /ultrathink-runs resume ${run.slug}${resumes}`);
  if (commits.length > 0) steps.push(`land: /ultrathink-runs land ${run.slug}`);
  steps.push(`discard: /ultrathink-runs discard ${run.slug}`);
  return steps.map((step) => `  ${step}`);
}

function stayedLines({ stayed }: RunReport): string[] {
  if (stayed === 0) return [];
  return [`  your ${plural(stayed, "uncommitted file")} ${stayed === 1 ? "is as it was" : "are as they were"}`];
}

function indented(text: string, by = "      "): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => by + line);
}

/** Quoted only when it has to be: people read it. */
function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : quote(text);
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
