import type { Outcome } from "../landing/state.ts";
import { noteSentence, pathList, plural, reasonSentence, short } from "../landing/words.ts";
import { type LeftOut, SIZE_LIMIT_BYTES } from "../run/iteration.ts";
import type { RunReport } from "../run/report.ts";
import { stopSentence } from "../run/stop.ts";

/** The run's work log: what happened, what is safe, what to type next. Plain text, for people and for the model. */
export function summary(report: RunReport): string {
  const { run, ending } = report;
  const lines = [headline(report)];
  switch (ending.kind) {
    case "landed":
      lines.push(
        `  from ${run.branch} onto ${run.original}${holderNote(ending.outcome)} · ${stopSentence(report.stop)}`,
      );
      lines.push(...commitLines(report));
      if (ending.message !== undefined && ending.outcome.kind === "merge")
        lines.push("  merge commit:", ...indented(ending.message));
      lines.push(...ending.notes.map((note) => `  note: ${noteSentence(note)}`));
      if (ending.notes.every(({ kind }) => kind !== "worktree-kept"))
        lines.push("  worktree and scratch branch removed");
      if (ending.outcome.kind !== "already-integrated")
        lines.push(`  undo: ${undoCommand(ending.outcome, run.original)}`);
      break;
    case "nothing-to-land":
      lines.push(`  ${stopSentence(report.stop)}${ending.kept ? "" : "; worktree and scratch branch removed"}`);
      if (ending.kept) lines.push(`  kept: ${ending.kept.worktree}: ${ending.kept.why}`);
      break;
    case "preserved":
      lines.push(`  ${stopSentence(report.stop)}`);
      lines.push(...commitLines(report));
      lines.push(
        `  kept: branch ${run.branch} (${plural(report.commits.length, "commit")})${ending.worktreeGone ? "; its worktree is gone" : `, worktree ${run.worktree}`}`,
      );
      if (ending.uncommitted > 0)
        lines.push(`  ${plural(ending.uncommitted, "file")} in that worktree not committed yet`);
      lines.push(...nextSteps(report));
  }
  lines.push(...leftOutLines(report), ...ignoredLines(report));
  if (report.stayed > 0) lines.push(stayedLine(report));
  lines.push(`The working directory is your checkout again (branch ${run.original}).`);
  return lines.join("\n");
}

function ignoredLines({ ending }: RunReport): string[] {
  if (ending.kind === "preserved" || ending.ignored.length === 0) return [];
  return [`  ignored files of the worktree went with it: ${pathList(ending.ignored)}`];
}

function leftOutLines({ leftOut }: RunReport): string[] {
  const pathsOf = (why: LeftOut["why"]) => leftOut.filter((each) => each.why === why).map(({ path }) => path);
  const nested = pathsOf("nested-repository");
  const large = pathsOf("too-large");
  return [
    ...(nested.length === 0 ? [] : [`  not committed, repositories of their own: ${pathList(nested)}`]),
    ...(large.length === 0
      ? []
      : [`  not committed, larger than ${SIZE_LIMIT_BYTES / 1024 / 1024} MiB: ${pathList(large)}`]),
  ];
}

function headline({ run, ending, iterations, commits, elapsedMs }: RunReport): string {
  const numbers = [plural(commits.length, "commit"), plural(iterations, "iteration"), duration(elapsedMs)].join(" · ");
  switch (ending.kind) {
    case "landed":
      return `✔ landed on ${run.original} ${landedHow(ending.outcome)} · ${numbers}`;
    case "nothing-to-land":
      return `✔ nothing to land · ${numbers}`;
    case "preserved":
      return ending.reason === undefined
        ? `✖ not landed · ${numbers}`
        : `✖ not landed: ${reasonSentence(ending.reason, { source: run.branch, target: run.original })} Nothing in your checkout changed. · ${numbers}`;
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

/** Plain git, and as careful with uncommitted files as the landing was; see git-reset(1), `--keep`. */
function undoCommand(outcome: Exclude<Outcome, { kind: "already-integrated" }>, original: string): string {
  const { holder, from, to } = outcome;
  if (holder === undefined) return `git update-ref refs/heads/${original} ${short(from)} ${short(to)}`;
  return `git -C ${holder} reset --keep ${short(from)}   (while ${original} is at ${short(to)})`;
}

function holderNote(outcome: Outcome): string {
  if (outcome.kind === "already-integrated") return "";
  return outcome.holder === undefined ? " (checked out nowhere, only the branch moved)" : "";
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
  const conflict = ending.kind === "preserved" && ending.reason?.kind === "conflicted";
  const resolve = conflict ? [`  next: cd ${run.worktree} && git merge ${run.original}   (resolve, commit)`] : [];
  const take =
    commits.length > 0
      ? [`  ${conflict ? "then" : "next"}: git merge ${run.branch}   (in your checkout, to take the work)`]
      : [];
  const discard = `  discard: git worktree unlock ${run.worktree} && git worktree remove ${run.worktree}   (the branch stays)`;
  return [...resolve, ...take, discard];
}

function stayedLine({ stayed, ending }: RunReport): string {
  const as = ending.kind === "landed" ? "are as they were, outside of what landed" : "are as they were";
  return `  your ${plural(stayed, "uncommitted file")} ${stayed === 1 ? as.replace("are", "is").replace("they were", "it was") : as}`;
}

function indented(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `      ${line}`);
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
