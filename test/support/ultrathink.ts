import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { requests, writeScript } from "./hosts.ts";
import { type PrintOptions, type PrintResult, piPrint } from "./pi-print.ts";
import type { TestRepo } from "./repo.ts";
import type { Script, ScriptedCall } from "./script.ts";
import type { RequestRecord } from "./scripted-model.ts";

/** A Pi home that goes with the repository. */
export function homeOf(repo: TestRepo): string {
  return join(repo.base, "home");
}

export function write(path: string, content: string): ScriptedCall {
  return { tool: "write", arguments: { path, content } };
}

export function bash(command: string): ScriptedCall {
  return { tool: "bash", arguments: { command } };
}

/** A pass that writes `files` and says so. */
export function writing(files: Readonly<Record<string, string>>): Script["passes"][number] {
  return { steps: [Object.entries(files).map(([path, content]) => write(path, content))], text: "Written." };
}

export const nothingLeft = { text: "Nothing left." };

export interface UltrathinkResult extends PrintResult {
  readonly requests: readonly RequestRecord[];
}

/** One run in print mode, to its end. */
export async function ultrathink(
  repo: TestRepo,
  script: Script,
  { args = "", ...options }: Partial<Omit<PrintOptions, "args" | "script" | "home">> & { args?: string } = {},
): Promise<UltrathinkResult> {
  const home = homeOf(repo);
  const prompt = `/ultrathink ${args} Add the files`;
  const result = await piPrint({ cwd: repo.path, home, script, prompt, ...options });
  return { ...result, requests: requests(home) };
}

/** One command in print mode, such as `/ultrathink-runs`. */
export function command(repo: TestRepo, prompt: string, script?: Script): Promise<PrintResult> {
  return piPrint({ cwd: repo.path, home: homeOf(repo), prompt, ...(script ? { script } : {}) });
}

/** Replaces the script of a Pi that runs: `passes` begin with the next user message. */
export function nextScript(home: string, { passes, ...script }: Script): void {
  const next = 1 + Math.max(-1, ...requests(home).flatMap(({ pass }) => pass ?? []));
  writeScript(home, { ...script, passes: [...Array.from({ length: next }, () => ({})), ...passes] });
}

/** The snapshot that `before` becomes when `files` land and nothing else happens. */
export function withLanded(
  repo: TestRepo,
  before: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Record<string, string> {
  const landed = Object.entries(files);
  const entries = landed.map(([path]) => `H 100644 ${repo.git("hash-object", path)} 0\t${path}`);
  const pathOf = (line: string) => line.split("\t")[1] ?? "";
  const index = [...(before["index"] ?? "").split("\n"), ...entries].sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  const bytes = landed.map(([path, text]) => [
    `file ${path}`,
    `100644 ${createHash("sha256").update(text).digest("hex")}`,
  ]);
  return { ...before, ...Object.fromEntries(bytes), index: index.join("\n") };
}

/** Everything of runs that a repository holds. Empty when none has ever been there. */
export function traces(repo: TestRepo): string[] {
  const administration = join(repo.path, ".git/ultrathink");
  const folder = `${repo.path}.worktrees`;
  return [
    ...repo.git("for-each-ref", "--format=%(refname)", "refs/heads/ultrathink", "refs/ultrathink").split("\n"),
    ...(repo.git("worktree", "list", "--porcelain").match(/^worktree .*\.worktrees\/.*$/gm) ?? []),
    ...(existsSync(folder) ? [folder] : []),
    ...(existsSync(administration) ? readdirSync(administration, { recursive: true }).map(String) : []),
  ].filter((trace) => trace !== "");
}

/** What is left of a run that is kept. */
export function kept(repo: TestRepo, slug = "scripted-run"): { branch: boolean; worktree: boolean; locked: boolean } {
  const branch = repo.git("for-each-ref", `refs/heads/ultrathink/${slug}`) !== "";
  const list = repo.git("worktree", "list", "--porcelain").split("\n\n");
  const entry = list.find((record) => record.startsWith(`worktree ${repo.path}.worktrees/${slug}\n`));
  return { branch, worktree: entry !== undefined, locked: entry?.includes("\nlocked ") ?? false };
}

/** The run's worktree. */
export function worktreeOf(repo: TestRepo, slug = "scripted-run"): string {
  return `${repo.path}.worktrees/${slug}`;
}
