import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { plural, short } from "../landing/words.ts";
import type { Progress } from "../run/progress.ts";
import { sandboxSentence } from "./sandbox-sentence.ts";

/** What the transcript tells, in one or more lines; `undefined` for what only a status line shows. */
export function transcriptText(progress: Progress): string | undefined {
  switch (progress.type) {
    case "started": {
      const { run, ground, max, sandbox } = progress;
      const { uncommitted } = ground;
      const stay = uncommitted === 1 ? "stays in your checkout and is" : "stay in your checkout and are";
      return [
        `worktree ${relative(ground.checkout, run.worktree)} on ${run.branch}, from ${run.original} ${short(run.base)}`,
        ...(uncommitted === 0 ? [] : [`${plural(uncommitted, "uncommitted file")} ${stay} not part of this run`]),
        `up to ${plural(max, "iteration")} · ${sandboxSentence(sandbox)}`,
      ].join("\n");
    }
    case "iteration-committed":
      return `v${progress.iteration} committed ${short(progress.tip)} ${progress.subject}${changed(progress.stats)}`;
    case "iteration-unchanged":
      return `v${progress.iteration} changed nothing`;
    case "iteration-rejected":
      return `v${progress.iteration} not committed: a commit hook rejected it`;
    default:
      return undefined;
  }
}

function changed(stats: Extract<Progress, { type: "iteration-committed" }>["stats"]): string {
  if (stats.length === 0) return "";
  const added = stats.reduce((sum, { lines }) => sum + (lines?.added ?? 0), 0);
  const deleted = stats.reduce((sum, { lines }) => sum + (lines?.deleted ?? 0), 0);
  return ` (${plural(stats.length, "file")}, +${added} −${deleted})`;
}

/** One short line on what is going on; `undefined` leaves the last one. */
export function statusLine(progress: Progress): string | undefined {
  switch (progress.type) {
    case "preparing":
      return progress.what === "name" ? "naming the run…" : "creating the worktree…";
    case "started":
      return undefined;
    case "iteration-started":
      return `v${progress.iteration} of up to ${progress.max} on ${progress.branch}`;
    case "naming":
      return `v${progress.iteration} changed files · writing the commit message…`;
    case "iteration-committed":
      return `v${progress.iteration} committed ${short(progress.tip)}`;
    case "waiting":
      return "waiting for another landing in this repository…";
    case "iteration-unchanged":
    case "iteration-rejected":
      return undefined;
    case "check-output":
      return `checking… ${lastLine(progress.text)}`;
    case "landing":
      return progress.step === "landed" || progress.step === "stopped" ? undefined : `${progress.step}…`;
  }
}

/** Characters of a check's output that fit beside the rest of the status line. */
const OUTPUT_WIDTH = 60;

function lastLine(text: string): string {
  const line =
    text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? "";
  return stripVTControlCharacters(line).slice(0, OUTPUT_WIDTH);
}
