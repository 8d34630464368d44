import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openRepository } from "../../src/git/repository.ts";
import { worktrees } from "../../src/git/worktree-list.ts";
import { detectSandbox } from "../../src/isolation/detect-sandbox.ts";
import { openSandbox } from "../../src/isolation/open-sandbox.ts";
import { packLoose } from "../../src/isolation/pack-loose.ts";
import { redirectCommand } from "../../src/isolation/redirect.ts";
import { type ProcessResult, runProcess } from "../../src/process/run-process.ts";
import type { TestRepo } from "./repo.ts";

export interface SandboxedRun {
  readonly worktree: string;
  /** Runs `command` as the agent's bash tool would, paths as they are; `$MAIN` is the checkout. */
  bash(command: string, signal?: AbortSignal): Promise<Output>;
  /** The same without a sandbox. */
  plain(command: string): Promise<Output>;
}

export interface Output extends Pick<ProcessResult, "exit"> {
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  /** The user's checkout. Default: the repository's main worktree. */
  readonly checkout?: string;
  readonly network?: boolean;
}

/** A worktree on `ultrathink/run` beside the repository, its commands confined by bubblewrap. */
export async function sandboxedRun(repo: TestRepo, options: Options = {}): Promise<SandboxedRun> {
  const { checkout = repo.path, network = true } = options;
  const worktree = `${repo.path}.worktrees/run`;
  repo.git("worktree", "add", "--quiet", "--lock", "-b", "ultrathink/run", worktree, "main");
  const env = { ...repo.env(), MAIN: checkout, WORKTREE: worktree };
  const repository = await openRepository(checkout, { env });
  const { commonDir, git, topLevel = "" } = repository;
  const detected = await detectSandbox({ mode: "require", network, checkout: topLevel, commonDir, env });
  if (detected.kind === "refused") throw new Error(`these tests need bubblewrap: ${detected.message}`);
  const [main] = await worktrees(git);
  const checkouts = [main?.path ?? "", topLevel];
  await packLoose(repository);
  const run = { repository, worktree, branch: "ultrathink/run", checkouts };
  const sandboxed = await openSandbox(run, detected.sandbox);
  if (sandboxed === undefined) throw new Error("no sandbox is in force");
  const shell = async (text: string, signal?: AbortSignal): Promise<Output> => {
    const limits = { timeoutMs: 30_000, outputLimitBytes: 1024 * 1024 };
    const { exit, stdout, stderr } = await runProcess("/bin/bash", ["-c", text], {
      cwd: checkout,
      env,
      signal,
      ...limits,
    });
    return { exit, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  // Paths into the checkout stay as they are: this is about what holds when redirection has missed one.
  const redirected = (command: string) => redirectCommand({ mains: [], worktree, subdirectory: "" }, command);
  return {
    worktree,
    bash: async (command, signal) => shell(await sandboxed(redirected(command)), signal),
    plain: (command) => shell(redirected(command)),
  };
}

/** All that a command of the run must not change: the user's checkout, and the shared files of git but for objects. */
export function untouchable(repo: TestRepo): Record<string, string> {
  const common = join(repo.path, ".git");
  const own = /^(?:objects|index$|worktrees\/run|(?:logs\/)?refs\/heads\/ultrathink\/run)(?:\/|$)/;
  const state: Record<string, string> = { ...repo.snapshot(), worktrees: worktreePaths(repo) };
  for (const entry of readdirSync(common, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(common.length + 1);
    if (entry.isFile() && !own.test(name))
      state[`git ${name}`] = createHash("sha256").update(readFileSync(path)).digest("hex");
  }
  return state;
}

function worktreePaths(repo: TestRepo): string {
  return (repo.git("worktree", "list", "--porcelain").match(/^worktree .*$/gm) ?? []).join("\n");
}
