import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { agentTools } from "../../tools/index.ts";
import { type TestRepo, test } from "../support/repo.ts";

/** Git processes that a call of `integrate_branch` starts, from git's own trace; git's children do not count. */
async function gitProcesses(repo: TestRepo): Promise<string[]> {
  const trace = join(repo.base, "trace.jsonl");
  const env = { ...repo.env(), GIT_TRACE2_EVENT: trace };
  const tool = agentTools({ env, activeRun: () => undefined }).find(({ name }) => name === "integrate_branch");
  const call = { sourceBranch: "topic", targetBranch: "main" };
  const result = await tool?.execute("call", call, undefined, undefined, { cwd: repo.path });
  expect(result?.details).toMatchObject({ to: repo.tip("main") });
  const events = readFileSync(trace, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceEvent);
  return events
    .filter(({ event, sid }) => event === "start" && !sid.includes("/"))
    .map(({ argv = [] }) => argv.join(" "));
}

interface TraceEvent {
  readonly event: string;
  /** Holds a slash for a git that a git has started; trace2 api, "sid". */
  readonly sid: string;
  readonly argv?: readonly string[];
}

describe("git processes of a landing into a clean holder", () => {
  test("a fast-forward starts at most 12", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const started = await gitProcesses(repo);
    expect(started.length, started.join("\n")).toBeLessThanOrEqual(12);
  });

  test("a merge starts at most 20", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    repo.commit({ "b.txt": "b\n" });
    const started = await gitProcesses(repo);
    expect(started.length, started.join("\n")).toBeLessThanOrEqual(20);
  });
});
