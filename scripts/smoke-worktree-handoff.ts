/**
 * Proves the hand-over of a linked worktree with the real extension: the registered `create_worktree` makes one, a
 * separate process works in exactly `handoff.cwd`, the registered `remove_worktree` takes it away and keeps the branch.
 *
 * A fresh repository without remotes, an environment without credentials, and no network: any request fails it.
 * Prints one JSON object; exit 1 unless `ok`.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import type { CreateWorktreeDetails } from "../tools/create-worktree.ts";
import type { AgentTool } from "../tools/index.ts";
import type { RemoveWorktreeDetails } from "../tools/remove-worktree.ts";

const BRANCH = "smoke/handoff";

/** Reports where it is, by what it and git see there; arguments would be a second opinion. */
const CHILD = `
  const { execFileSync } = require("node:child_process");
  const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();
  console.log(JSON.stringify({
    cwd: process.cwd(),
    branch: git("symbolic-ref", "--short", "HEAD"),
    head: git("rev-parse", "--verify", "HEAD"),
    remotes: git("remote").split("\\n").filter(Boolean),
  }));
`;

const base = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-smoke-")));
const facts: Record<string, unknown> = {};
let failure: unknown;
try {
  await smoke();
} catch (error) {
  failure = error;
} finally {
  rmSync(base, { recursive: true, force: true });
  facts["cleanedUp"] = !existsSync(base);
}
const ok = failure === undefined && facts["cleanedUp"] === true;
const error = failure === undefined ? {} : { error: failure instanceof Error ? failure.message : String(failure) };
process.stdout.write(`${JSON.stringify({ ok, ...error, ...facts })}\n`);
process.exitCode = ok ? 0 : 1;

async function smoke(): Promise<void> {
  dropCredentials();
  const requests = guardNetwork();
  const repo = freshRepository();
  const head = git(repo, "rev-parse", "--verify", "HEAD");

  const tools = await registeredTools();
  facts["tools"] = [...tools.keys()];
  const created = await call(tools, "create_worktree", repo, {
    worktreePath: join(base, "handoff"),
    branchName: BRANCH,
    branchMode: "new",
  });
  const { handoff } = created as CreateWorktreeDetails;
  facts["handoff"] = handoff;
  assert.deepEqual(
    { branch: handoff.branch, head: handoff.head, ready: handoff.ready },
    { branch: BRANCH, head, ready: true },
  );

  const child: unknown = JSON.parse(run(process.execPath, ["-e", CHILD], handoff.cwd));
  facts["child"] = child;
  assert.deepEqual(child, { cwd: handoff.cwd, branch: BRANCH, head, remotes: [] });

  const removed = await call(tools, "remove_worktree", repo, { worktreePath: handoff.cwd });
  facts["removed"] = (removed as RemoveWorktreeDetails).handoff;
  const after = {
    directoryGone: !existsSync(handoff.cwd),
    branchHead: git(repo, "rev-parse", "--verify", `refs/heads/${BRANCH}`),
  };
  facts["after"] = after;
  assert.deepEqual(after, { directoryGone: true, branchHead: head });

  facts["networkRequests"] = requests.length;
  assert.deepEqual(requests, []);
}

/** What is left of the environment holds no token, no agent socket and no configuration of a person's. */
function dropCredentials(): void {
  const kept = ["PATH", "TMPDIR", "SystemRoot"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const name of Object.keys(process.env)) delete process.env[name];
  const home = join(base, "home");
  mkdirSync(home);
  Object.assign(process.env, Object.fromEntries(kept), {
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
  });
}

/** Refuses every connection of this process; a local pipe is none. @returns the refused ones, as they come. */
function guardNetwork(): string[] {
  const refused: string[] = [];
  const refuse = (what: string): never => {
    refused.push(what);
    throw new Error(`the smoke test makes no network request: ${what}`);
  };
  globalThis.fetch = (input) => refuse(`fetch ${input instanceof Request ? input.url : input}`);
  const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    // Node normalises the arguments of its own callers (http, https, tls) into one array.
    const [first] = args.flat();
    const isPipe = typeof first === "object" && first !== null && "path" in first && typeof first.path === "string";
    return isPipe ? connect.apply(this, args) : refuse(`connect ${JSON.stringify(first)}`);
  } as typeof Socket.prototype.connect;
  return refused;
}

function freshRepository(): string {
  const repo = join(base, "repo");
  git(base, "init", "--quiet", "--initial-branch=main", repo);
  git(repo, "config", "user.name", "Smoke Test");
  git(repo, "config", "user.email", "smoke@example.invalid");
  git(repo, "commit", "--quiet", "--allow-empty", "--message=first");
  return repo;
}

/** Loads the extension as a host would, with an API that records tools and takes everything else. */
async function registeredTools(): Promise<ReadonlyMap<string, AgentTool>> {
  const tools = new Map<string, AgentTool>();
  const api = new Proxy(
    { registerTool: (tool: AgentTool) => void tools.set(tool.name, tool) },
    { get: (target, name) => Reflect.get(target, name) ?? (() => undefined) },
  );
  const { default: extension } = await import("../src/extension.ts");
  await extension(api as unknown as ExtensionAPI);
  return tools;
}

async function call(tools: ReadonlyMap<string, AgentTool>, name: string, cwd: string, args: object): Promise<unknown> {
  const tool = tools.get(name);
  assert.ok(tool, `the extension registers no tool ${name}`);
  const { details } = await tool.execute("smoke", tool.prepareArguments(args), undefined, undefined, { cwd });
  return details;
}

function git(cwd: string, ...args: string[]): string {
  return run("git", args, cwd);
}

function run(file: string, args: readonly string[], cwd: string): string {
  return execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
