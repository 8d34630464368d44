import { stripVTControlCharacters } from "node:util";
import { plural, short } from "../landing/words.ts";
import type { Progress } from "../run/progress.ts";

/** Lines for the transcript; none for what only a status line shows. */
export function transcriptLines(progress: Progress): string[] {
  switch (progress.type) {
    case "started": {
      const { run, ground, max } = progress;
      const stay =
        ground.uncommitted === 0
          ? []
          : [`${plural(ground.uncommitted, "uncommitted file")} in your checkout not part of this run`];
      const where = `worktree ${run.worktree} on ${run.branch}, from ${run.original} ${short(run.base)}`;
      return [where, ...stay, `up to ${plural(max, "iteration")} · no sandbox: file tools and shells are redirected`];
    }
    case "iteration-committed": {
      const { iteration, tip, subject, stats } = progress;
      return [`v${iteration} committed ${short(tip)} ${subject}${changed(stats)}`];
    }
    default:
      return [];
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
      return `${progress.run.branch}`;
    case "iteration-started":
      return `v${progress.iteration}/${progress.max}`;
    case "naming":
      return `v${progress.iteration} changed files · writing the commit message…`;
    case "iteration-committed":
      return `v${progress.iteration} committed ${short(progress.tip)}`;
    case "waiting":
      return "waiting for another landing in this repository…";
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
