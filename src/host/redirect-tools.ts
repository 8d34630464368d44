import { existsSync } from "node:fs";
import { createLocalBashOperations, type ExtensionAPI, type ToolCallEvent } from "@mariozechner/pi-coding-agent";
import {
  originalPath,
  type Redirect,
  redirectCommand,
  redirectedCwd,
  redirectPath,
  redirectPowerShell,
} from "../isolation/redirect.ts";

/** What is in force during a run. */
export interface Redirection {
  readonly redirect: Redirect;
  /** Tools of other extensions that may be used. */
  readonly allowTools: readonly string[];
}

const READS = new Set(["read", "grep", "find", "ls"]);
const WRITES = new Set(["edit", "write"]);

/**
 * Has the agent's file tools and shells, and the user's own `!` commands, act in the worktree while
 * `current()` gives one.
 *
 * The input is changed in place: the built-in tools stay registered as they are, and the transcript keeps the
 * model's own arguments.
 */
export function redirectTools(
  pi: ExtensionAPI,
  current: () => Redirection | undefined,
  ownTools: ReadonlySet<string>,
): void {
  pi.on("tool_call", (event) => {
    const redirection = current();
    if (redirection === undefined || ownTools.has(event.toolName)) return undefined;
    if (redirectInput(redirection.redirect, event)) return undefined;
    if (isBuiltIn(pi, event.toolName) || redirection.allowTools.includes(event.toolName)) return undefined;
    return {
      block: true,
      reason:
        `The tool ${event.toolName} belongs to another extension and cannot be kept inside the run's worktree, ` +
        `so it is blocked during this run. Use the built-in tools, or add "${event.toolName}" to allowTools in ~/.pi/ultrathink.json.`,
    };
  });
  pi.on("user_bash", () => {
    const redirection = current();
    if (redirection === undefined) return undefined;
    const cwd = redirectedCwd(redirection.redirect);
    const local = createLocalBashOperations();
    return { operations: { exec: (command, _cwd, options) => local.exec(command, cwd, options) } };
  });
}

/** True when the call is one that can be redirected, and has been. */
function redirectInput(redirect: Redirect, event: ToolCallEvent): boolean {
  const input = event.input as Record<string, unknown>;
  const { toolName } = event;
  if (toolName === "bash" || toolName === "powershell") {
    const command = typeof input["command"] === "string" ? input["command"] : "";
    input["command"] = toolName === "bash" ? redirectCommand(redirect, command) : redirectPowerShell(redirect, command);
    return true;
  }
  if (!READS.has(toolName) && !WRITES.has(toolName)) return false;
  const path = typeof input["path"] === "string" ? input["path"] : ".";
  const redirected = redirectPath(redirect, path);
  const original = READS.has(toolName) ? originalPath(redirect, redirected) : undefined;
  // Ignored files and skills exist in the user's checkout only; reading them there harms nothing.
  const fallsThrough = original !== undefined && !existsSync(redirected) && existsSync(original);
  input["path"] = fallsThrough ? original : redirected;
  return true;
}

function isBuiltIn(pi: ExtensionAPI, name: string): boolean {
  return pi.getAllTools().some((tool) => tool.name === name && tool.sourceInfo.source === "builtin");
}
