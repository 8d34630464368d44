import { realpath } from "node:fs/promises";
import type { Repository } from "../git/repository.ts";
import { worktreeDirs } from "../git/rev-parse.ts";
import type { SandboxInForce } from "./detect-sandbox.ts";
import { sandboxedShellText } from "./sandbox.ts";
import { type SandboxedRun, sandboxRules } from "./sandbox-rules.ts";
import { surroundings } from "./sandbox-surroundings.ts";

/** Shell text that runs `command` in the sandbox. Made anew for each command, as what is there changes. */
export type Sandboxed = (command: string) => Promise<string>;

export interface OpenSandbox {
  readonly repository: Repository;
  readonly worktree: string;
  readonly branch: string;
  /** The main worktree's top, and that of the user's checkout. */
  readonly checkouts: readonly string[];
}

/** Gets ready for the commands of one run; `undefined` when no sandbox is in force. */
export async function openSandbox(
  { repository, worktree, branch, checkouts }: OpenSandbox,
  inForce: SandboxInForce,
): Promise<Sandboxed | undefined> {
  if (inForce.kind === "none") return undefined;
  const { kind: program, network } = inForce;
  const { gitDir } = await worktreeDirs(repository.at(worktree));
  const [folder = "", name = ""] = branch.split("/");
  const run: SandboxedRun = {
    worktree: await realpath(worktree),
    commonDir: await realpath(repository.commonDir),
    gitDir: await realpath(gitDir),
    branch: { folder, name },
  };
  return async (command) => {
    const rules = sandboxRules(run, await surroundings(run, checkouts));
    return sandboxedShellText({ program, rules, network }, command);
  };
}
