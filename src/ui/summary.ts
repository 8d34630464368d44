import { pathText, type TreePath } from "../git/names.ts";
import type { Outcome, StopReason } from "../landing/state.ts";
import type { RunReport } from "../run/report.ts";
import { stopSentence } from "../run/stop.ts";

/** Characters of an object name that people read. */
const SHORT = 7;
/** Paths named before the rest is counted. */
const PATHS_SHOWN = 10;

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
      lines.push(...ending.warnings.map((warning) => `  note: ${warning}`));
      if (ending.warnings.length === 0) lines.push("  worktree and scratch branch removed");
      if (ending.outcome.kind !== "already-integrated")
        lines.push(`  undo: ${undoCommand(ending.outcome, run.original)}`);
      break;
    case "nothing-to-land":
      lines.push(`  ${stopSentence(report.stop)}; worktree and scratch branch removed`);
      lines.push(...ending.warnings.map((warning) => `  note: ${warning}`));
      break;
    case "preserved":
      lines.push(`  ${stopSentence(report.stop)}`);
      lines.push(...commitLines(report));
      lines.push(`  kept: branch ${run.branch} (${plural(report.commits.length, "commit")}), worktree ${run.worktree}`);
      if (ending.uncommitted > 0)
        lines.push(`  ${plural(ending.uncommitted, "file")} in that worktree not committed yet`);
      lines.push(...nextSteps(report));
  }
  if (report.nested.length > 0) lines.push(`  not committed, repositories of their own: ${report.nested.join(", ")}`);
  lines.push(stayedLine(report), `The working directory is your checkout again (branch ${run.original}).`);
  return lines.join("\n");
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
        : `✖ not landed: ${stopReasonSentence(ending.reason, run)} Nothing in your checkout changed. · ${numbers}`;
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
  if (stayed === 0) return "  your checkout had no uncommitted files";
  const as = ending.kind === "landed" ? "are as they were, outside of what landed" : "are as they were";
  return `  your ${plural(stayed, "uncommitted file")} ${stayed === 1 ? as.replace("are", "is").replace("they were", "it was") : as}`;
}

/** Why a landing stopped, in one sentence. */
export function stopReasonSentence(
  reason: StopReason,
  { branch, original }: { branch: string; original: string },
): string {
  switch (reason.kind) {
    case "conflicted":
      return `${original} and ${branch} both change ${pathList(reason.paths)} (${plural(reason.paths.length, "conflict")}).`;
    case "check-failed":
      return `the check ${reason.command} failed on the result:\n${reason.output}\n`;
    case "target-moved":
      return `${original} kept moving (now ${short(reason.to)}); try again when it rests.`;
    case "target-busy":
      return `a ${reason.operation} is in progress in ${reason.worktree}; finish or abort it first.`;
    case "locked":
      return `${reason.file} exists (${Math.round(reason.ageMs / 1000)} s old): another git is at work, or one crashed; remove it when none is.`;
    case "overlap":
      return `your uncommitted changes in ${reason.worktree} touch ${pathList(reason.paths)}, which the work changes too; commit or move them first.`;
    case "would-overwrite-ignored":
      return `${pathList(reason.paths)} in ${reason.worktree} is ignored by git and would be overwritten; move it first.`;
    case "hidden-edit":
      return `${pathList(reason.paths)} in ${reason.worktree} is marked ${reason.bit}, so an edit there would be lost; clear the bit first.`;
    case "hook-rejected":
      return `the hook ${reason.hook} rejected it:\n${reason.output}\n`;
    case "signing-failed":
      return `the commit could not be signed:\n${reason.output}\n`;
    case "signature-required":
      return `merge.verifySignatures asks for a good signature, which ${short(reason.commit)} does not have.`;
    case "unrelated-histories":
      return reason.shallow
        ? "this clone is shallow and the merge base is not in it; git fetch --unshallow first."
        : `${branch} and ${original} have no common history.`;
    case "branch-missing":
      return `branch ${reason.branch} does not exist any more.`;
    case "branch-symbolic":
      return `branch ${reason.branch} is a symbolic reference to ${reason.to}; name that one.`;
    case "held-twice":
      return `${original} is checked out in ${reason.worktrees.join(" and ")}; one of them would be left behind.`;
    case "holder-unreadable":
      return `the worktree ${reason.worktree}, which has ${original} checked out, cannot be used: ${reason.why}.`;
    case "sync-failed":
      return `the files in ${reason.worktree} could not be brought up to date, and everything was put back: ${reason.output}`;
    case "aborted":
      return "the landing was cancelled.";
  }
}

function pathList(paths: readonly TreePath[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map((path) => visible(pathText(path) ?? JSON.stringify(path)));
  const rest = paths.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Control characters of a path would move the cursor or break the line. */
function visible(text: string): string {
  return /\p{Cc}/u.test(text) ? JSON.stringify(text) : text;
}

function indented(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `      ${line}`);
}

export function short(oid: string): string {
  return oid.slice(0, SHORT);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
