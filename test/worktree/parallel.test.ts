import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import type { RunResult } from "../../src/run/ultrathink.ts";
import { type TestRepo, test } from "../support/repo.ts";

const PROCESSES = 12;
const indexes = Array.from({ length: PROCESSES }, (_, index) => index);

/** What a script below test/support prints, as JSON. */
function child(repo: TestRepo, script: string, ...args: string[]): Promise<Record<string, unknown>> {
  const file = fileURLToPath(new URL(`../support/${script}`, import.meta.url));
  const process_ = spawn(process.execPath, ["--import", "tsx", file, ...args], { env: repo.env() });
  let printed = "";
  process_.stdout.on("data", (chunk: Buffer) => (printed += chunk));
  process_.stderr.on("data", (chunk: Buffer) => (printed += chunk));
  return new Promise((resolve, reject) => {
    process_.on("close", () => {
      try {
        resolve(JSON.parse(printed) as Record<string, unknown>);
      } catch (cause) {
        reject(new Error(printed, { cause }));
      }
    });
  });
}

const registered = (repo: TestRepo) => repo.git("worktree", "list", "--porcelain").match(/^worktree .*/gm) ?? [];

describe(`${PROCESSES} processes at once`, { timeout: 240_000 }, () => {
  test("start runs of one and the same name: each gets a name, a branch and a worktree of its own", async ({
    repo,
  }) => {
    const passes = JSON.stringify(["echo 1 > $$.work"]);

    const ends = (await Promise.all(indexes.map(() => child(repo, "run-child.ts", repo.path, passes)))) as unknown[];

    const reports = (ends as RunResult[]).map((end) => (end.kind === "finished" ? end.report : expect.fail(end.kind)));
    const kept = reports.filter(({ ending }) => ending.kind !== "landed");
    // The model that names them knows one word only; whoever asks when it is taken already keeps its run.
    for (const { stop } of kept) expect(stop.kind).toBe("naming-error");
    expect(new Set(kept.map(({ run }) => run.slug)).size).toBe(kept.length);
    const branches = ["main", ...kept.map(({ run }) => run.branch)];
    const files = branches.flatMap((branch) => repo.git("ls-tree", "--name-only", branch).split("\n"));
    expect(new Set(files.filter((file) => file.endsWith(".work"))).size).toBe(PROCESSES);
    expect(registered(repo)).toHaveLength(1 + kept.length);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("make worktrees side by side, all of them", async ({ repo }) => {
    const path = (index: number) => join(repo.base, "trees", `${index}`);
    const ends = await Promise.all(
      indexes.map((index) => child(repo, "create-child.ts", repo.path, path(index), `topic/${index}`)),
    );
    for (const end of ends) expect(end).toMatchObject({ outcome: "created" });
    expect(registered(repo)).toHaveLength(PROCESSES + 1);
    for (const index of indexes)
      expect(repo.gitIn(path(index), "symbolic-ref", "HEAD")).toBe(`refs/heads/topic/${index}`);
  });

  test("want the same branch or the same path: one gets it, and nothing stays of the others", async ({ repo }) => {
    const at = (index: number) => join(repo.base, "trees", index % 2 === 0 ? "same" : `${index}`);
    const branch = (index: number) => (index % 2 === 0 ? `topic/${index}` : "same");
    const ends = await Promise.all(
      indexes.map((index) => child(repo, "create-child.ts", repo.path, at(index), branch(index))),
    );

    const created = ends.filter(({ outcome }) => outcome === "created");
    expect(created).toHaveLength(2);
    const reasons = ends.filter((end) => !created.includes(end)).map(({ reason }) => reason);
    expect([...new Set(reasons)].sort()).toEqual(["branch-exists", "path-registered"]);
    expect(registered(repo)).toHaveLength(3);
    expect(readdirSync(join(repo.base, "trees"))).toHaveLength(2);
    expect(repo.git("for-each-ref", "--format=x", "refs/heads/topic", "refs/heads/same").split("\n")).toHaveLength(2);
    expect(existsSync(at(0))).toBe(true);
  });
});
