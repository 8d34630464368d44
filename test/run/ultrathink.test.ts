import { describe, expect } from "vitest";
import { succeeded } from "../../src/run/report.ts";
import type { RunOptions } from "../../src/run/ultrathink.ts";
import { summary } from "../../src/ui/summary.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";
import { kept } from "../support/ultrathink.ts";

const twice = ["echo 1 > a.txt", "echo 2 > b.txt"];

async function run(repo: TestRepo, passes: readonly string[], options: Partial<RunOptions> = {}) {
  const { result, sent } = await scriptedRun({ cwd: repo.path, env: repo.env(), passes, options });
  if (result.kind !== "finished") throw new TypeError(`the run was ${result.kind}`);
  return { report: result.report, sent, says: summary(result.report) };
}

const subjects = (repo: TestRepo, ...range: string[]) => repo.git("log", "--format=%s", ...range).split("\n");

describe("--land", () => {
  test("none keeps branch and worktree, which a script may take for a success", async ({ repo }) => {
    const main = repo.tip("main");
    const { report, says } = await run(repo, twice, { land: "none" });
    expect(says).toMatch(/^✔ kept, not landed, as asked · 2 commits/);
    expect(says).toContain("land: /ultrathink-runs land scripted-run");
    expect(repo.tip("main")).toBe(main);
    expect(kept(repo)).toEqual({ branch: true, worktree: true, locked: true });
    expect(succeeded(report)).toBe(true);
  });

  test("rebase replays every commit, without a merge", async ({ repo }) => {
    const base = repo.tip("main");
    const meanwhile = `git -C '${repo.path}' commit --quiet --allow-empty --message=meanwhile`;
    const { says } = await run(repo, [...twice, meanwhile], { land: "rebase" });
    expect(says).toMatch(/^✔ landed on main by rebase and fast-forward/);
    expect(subjects(repo, `${base}..main`)).toEqual(["Scripted commit 2", "Scripted commit 1", "meanwhile"]);
    expect(repo.git("log", "--merges", "main")).toBe("");
  });

  test("merge makes a merge commit of a single commit too", async ({ repo }) => {
    const { says } = await run(repo, twice.slice(0, 1), { land: "merge" });
    expect(says).toMatch(/^✔ landed on main with a merge commit/);
    expect(subjects(repo, "-1", "main")).toEqual(["Merge scripted work"]);
  });

  test("squash makes one commit of all, with the model's words", async ({ repo }) => {
    const base = repo.tip("main");
    const { says } = await run(repo, twice, { land: "squash" });
    expect(says).toMatch(/^✔ landed on main as one squashed commit/);
    expect(subjects(repo, `${base}..main`)).toEqual(["Merge scripted work"]);
    expect(repo.git("ls-tree", "--name-only", "main")).toBe("README.md\na.txt\nb.txt");
  });
});

test("--max ends the run after so many passes, and lands it", async ({ repo }) => {
  const { report, sent, says } = await run(repo, [...twice, "echo 3 > c.txt"], { max: 2 });
  expect(sent).toHaveLength(2);
  expect(report.stop).toEqual({ kind: "max-iterations" });
  expect(says).toContain("the limit of iterations was reached");
  expect(report.ending.kind).toBe("landed");
});

test("a review message asks for the diff since the base and quotes the task", async ({ repo }) => {
  const base = repo.tip("main");
  const { sent } = await run(repo, twice, { reviewInstructions: "Look twice." });
  expect(sent.slice(0, 2)).toEqual([
    "Do the scripted work",
    `Original task: Do the scripted work\n\nReview the changes with \`git diff ${base.slice(0, 12)} HEAD\`.\nLook twice.`,
  ]);
});

test("a run that changes nothing leaves nothing behind and is a success", async ({ repo }) => {
  const { report, says } = await run(repo, [""]);
  expect(says).toMatch(/^✔ nothing to land · 0 commits · 1 iteration/);
  expect(kept(repo)).toEqual({ branch: false, worktree: false, locked: false });
  expect(succeeded(report)).toBe(true);
});

test("an interrupted run that has changed nothing leaves nothing behind and is none", async ({ repo }) => {
  const { report, says } = await run(repo, ["exit 130"]);
  expect(says).toMatch(/^✖ nothing to land .*\n {2}cancelled: you interrupted it; worktree and scratch branch removed/);
  expect(kept(repo)).toEqual({ branch: false, worktree: false, locked: false });
  expect(succeeded(report)).toBe(false);
});
