import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { pathList, plural, short } from "../landing/words.ts";
import type { Progress } from "../run/progress.ts";
import type { Skipped } from "../worktree/copy.ts";
import type { Equipment } from "../worktree/prepare.ts";
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
    case "equipped":
      return equipmentText(progress.equipment);
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

/** What the worktree has got, and what it lacks; `undefined` when there is nothing to tell. */
function equipmentText({ copied, skipped, submodules, sparse, changedBySetup }: Equipment): string | undefined {
  const { ready, missing } = submodules;
  const lines = [
    ...(copied.files === 0 ? [] : [`copied in ${plural(copied.files, "ignored file")} (${size(copied.bytes)})`]),
    ...Object.entries(SKIPPED).flatMap(([why, words]) => {
      const paths = skipped.filter((each) => each.why === why).map(({ path }) => path);
      return paths.length === 0 ? [] : [`not copied, ${words}: ${pathList(paths)}`];
    }),
    ...(ready.length === 0 ? [] : [`submodules from your checkout: ${ready.join(", ")}`]),
    ...missing.map(({ path, why }) => `submodule ${path} is empty: ${why} (nothing is fetched)`),
    ...(sparse ? ["sparse, like your checkout: only some directories are there"] : []),
    ...(changedBySetup.length === 0
      ? []
      : [`set-up changed ${pathList(changedBySetup.map(([path]) => path))}: in no commit unless worked on`]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

const SKIPPED: Readonly<Record<Skipped["why"], string>> = {
  repository: "repositories or worktrees of their own",
  "in-the-way": "in the way of what the worktree has",
  special: "neither files, folders nor symbolic links",
};

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
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
    case "copying":
      return `copying ignored files… ${progress.files}, ${size(progress.bytes)}`;
    case "setup-output":
      return `setting up… ${lastLine(progress.text)}`;
    case "equipped":
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
