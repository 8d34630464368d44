import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "../../src/run/progress.ts";
import type { RunOptions } from "../../src/run/ultrathink.ts";
import { transcriptText } from "../../src/ui/progress.ts";
import { summary } from "../../src/ui/summary.ts";
import { everything } from "../tools/calls.ts";
import type { TestRepo } from "./repo.ts";
import { type ScriptedEnd, type ScriptedRun, scriptedRun } from "./scripted-run.ts";

export interface EquippedEnd extends ScriptedEnd {
  readonly told: readonly Progress[];
  /** The summary, or why there is none. */
  readonly words: string;
  /** What the transcript shows before that. */
  readonly notes: string;
}

/** A scripted run whose worktree gets something beside its commit. */
export async function equippedRun(
  repo: TestRepo,
  passes: readonly string[],
  wishes: Partial<RunOptions["wishes"]>,
  more: Partial<ScriptedRun> = {},
): Promise<EquippedEnd> {
  const told: Progress[] = [];
  const options = { ...more.options, wishes: { include: [], ...wishes } };
  const progress = (each: Progress) => {
    told.push(each);
    more.progress?.(each);
  };
  const end = await scriptedRun({ cwd: repo.path, env: repo.env(), passes, ...more, progress, options });
  const { result } = end;
  const words = result.kind === "finished" ? summary(result.report) : result.kind === "refused" ? result.message : "";
  const notes = told.map(transcriptText).filter((text) => text !== undefined);
  return { ...end, told, words, notes: notes.join("\n") };
}

export function setup(command: string, timeoutMs = 60_000) {
  return { setup: { command, timeoutMs } };
}

/** The repository, what is beside it, and the journals of runs: all that a refused run must leave alone. */
export function surroundings(repo: TestRepo): unknown {
  const runs = join(repo.path, ".git/ultrathink/runs");
  const beside = readdirSync(repo.base);
  return { ...(everything(repo) as object), beside, runs: existsSync(runs) ? readdirSync(runs) : [] };
}
