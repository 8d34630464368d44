import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { createLocalBashOperations, type ExtensionAPI, type ToolCallEvent } from "@mariozechner/pi-coding-agent";
import type { Sandboxed } from "../isolation/open-sandbox.ts";
import {
  isInMain,
  isInside,
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
  /** Folders that file tools must not write to: other worktrees, and what all of them share. */
  readonly readOnly: readonly string[];
  /** Confines shell commands; `undefined` when no sandbox is in force. */
  readonly sandboxed: Sandboxed | undefined;
  /** Whether the run began with a file or folder at `path`, relative to the top of the worktree. */
  isTracked(path: string): Promise<boolean>;
}

const READS = new Set(["read", "grep", "find", "ls"]);
const WRITES = new Set(["edit", "write"]);
/** Tools of 1.6.0 that touch no file: the calls that a script makes come by here one by one. */
const HARMLESS = new Set(["codemode", "tool_search"]);

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
  pi.on("tool_call", async (event) => {
    const redirection = current();
    const { toolName } = event;
    if (redirection === undefined || ownTools.has(toolName)) return undefined;
    const redirected = await redirectInput(redirection, event);
    if (typeof redirected === "object") return { block: true, reason: redirected.refusal };
    if (redirected) return undefined;
    if (redirection.allowTools.includes(toolName) || isHarmless(pi, toolName)) return undefined;
    return {
      block: true,
      reason:
        `The tool ${toolName} cannot be kept inside the run's worktree, so it is blocked during this run. ` +
        `Use the file and shell tools, or add "${toolName}" to allowTools in ~/.pi/ultrathink.json.`,
    };
  });
  pi.on("user_bash", () => {
    const redirection = current();
    if (redirection === undefined) return undefined;
    const cwd = redirectedCwd(redirection.redirect);
    if (!existsSync(cwd)) return undefined; // the run has just landed
    const local = createLocalBashOperations();
    const { sandboxed = async (command: string) => command } = redirection;
    return {
      operations: {
        exec: async (command, _cwd, options) => local.exec(await sandboxed(command), cwd, options),
      },
    };
  });
}

/** True when the call is one that can be redirected, and has been. */
async function redirectInput(
  { redirect, isTracked, readOnly, sandboxed }: Redirection,
  event: ToolCallEvent,
): Promise<boolean | { readonly refusal: string }> {
  const input = event.input as Record<string, unknown>;
  const { toolName } = event;
  const command = typeof input["command"] === "string" ? input["command"] : "";
  if (toolName === "bash") {
    const text = redirectCommand(redirect, command);
    input["command"] = sandboxed === undefined ? text : await sandboxed(text);
    return true;
  }
  if (toolName === "powershell") {
    if (sandboxed !== undefined) return { refusal: "PowerShell cannot be confined as this run is: use the bash tool." };
    input["command"] = redirectPowerShell(redirect, command);
    return true;
  }
  if (!READS.has(toolName) && !WRITES.has(toolName)) return false;
  const redirected = redirectPath(redirect, typeof input["path"] === "string" ? input["path"] : ".");
  if (READS.has(toolName)) {
    input["path"] = (await onlyInMain(redirect, redirected, isTracked)) ?? redirected;
    return true;
  }
  const path = await throughLinks(redirect, redirected);
  const real = await realPath(path);
  const folder = isInside(real, redirect.worktree) ? undefined : readOnly.find((each) => isInside(real, each));
  if (folder !== undefined) {
    return { refusal: `${folder} is read-only during this run: write to the worktree, ${redirect.worktree}.` };
  }
  input["path"] = path;
  return true;
}

/** Where a write lands, should a symbolic link on the way lead into the user's checkout. */
async function throughLinks(redirect: Redirect, path: string): Promise<string> {
  const real = await realPath(path);
  return isInMain(redirect, real) ? redirectPath(redirect, real) : path;
}

/** Links resolved as far as the path exists. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(path) === path) throw error;
    return join(await realPath(dirname(path)), basename(path));
  }
}

/**
 * Where to read what only the user's checkout has: ignored files and skills. What the run has deleted is not
 * among that.
 */
async function onlyInMain(
  redirect: Redirect,
  redirected: string,
  isTracked: Redirection["isTracked"],
): Promise<string | undefined> {
  const original = originalPath(redirect, redirected);
  if (original === undefined || existsSync(redirected) || !existsSync(original)) return undefined;
  return (await isTracked(relative(redirect.worktree, redirected))) ? undefined : original;
}

/** MCP tools are built in on 1.6.0 as well: the name decides. */
function isHarmless(pi: ExtensionAPI, name: string): boolean {
  if (!HARMLESS.has(name)) return false;
  return pi.getAllTools().some((tool) => tool.name === name && tool.sourceInfo.source === "builtin");
}
