import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toBranchName } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { appendRecord, journalPath } from "../../src/journal/journal.ts";
import { performIn } from "../../src/landing/perform.ts";
import { runLanding } from "../../src/landing/run.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

const FEATURE_TO_MAIN = { sourceBranch: "feature", targetBranch: "main" };

/** main and feature one commit each past their base. */
function diverge(repo: TestRepo, theirs = "feature.txt"): void {
  repo.commit({ "shared.txt": "base\n" });
  repo.topic("feature", { [theirs]: "feature\n" });
  repo.commit({ "shared.txt": "main\n" });
}

function journals(repo: TestRepo): string[] {
  const folder = join(repo.path, ".git/ultrathink/runs");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe("integrate_branch", () => {
  test("fast-forwards the target and its dirty worktree", async ({ repo }) => {
    const from = repo.tip("main");
    const tip = repo.topic("feature", { "feature.txt": "feature\n" });
    repo.write({ "README.md": "edited\n" });

    const { details } = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);

    expect(details).toMatchObject({ outcome: "fast_forward", from, to: tip, sourceHead: tip, holder: repo.path });
    expect(repo.tip("main")).toBe(tip);
    expect(repo.read("feature.txt")).toBe("feature\n");
    expect(repo.git("status", "--porcelain")).toBe(" M README.md");
    const { target } = details["backup"] as { target: string };
    expect(repo.tip(target)).toBe(from);
    expect(journals(repo)).toHaveLength(1);
  });

  test("merges what cannot be fast-forwarded, with exactly the two tips as parents", async ({ repo }) => {
    diverge(repo);
    const parents = `${repo.tip("main")} ${repo.tip("feature")}`;
    const { details } = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);
    expect(details).toMatchObject({ outcome: "merge_commit", to: repo.tip("main") });
    expect(repo.git("log", "-1", "--format=%P", "main")).toBe(parents);
  });

  test("says when there is nothing to do, by ancestry and by content", async ({ repo }) => {
    repo.git("branch", "feature");
    const ancestry = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);
    expect(ancestry.details).toMatchObject({ outcome: "already_integrated", equalTree: false });

    repo.topic("picked", { "a.txt": "a\n" });
    repo.commit({ "b.txt": "b\n" });
    repo.git("cherry-pick", "picked");
    const picked = await callTool(repo, "integrate_branch", { ...FEATURE_TO_MAIN, sourceBranch: "picked" });
    expect(picked.details).toMatchObject({ outcome: "already_integrated", equalTree: true });
    expect(journals(repo)).toEqual([]);
  });

  test("reports a conflict with its paths and leaves everything as it was", async ({ repo }) => {
    diverge(repo, "shared.txt");
    repo.makeDirty();
    const before = everything(repo);
    const { details, text } = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);
    expect(details).toMatchObject({ outcome: "conflict", paths: ["shared.txt"], totalPaths: 1, preview: false });
    expect(text).toContain("Nothing was changed");
    expect(everything(repo)).toEqual(before);
    expect(journals(repo)).toEqual([]);
  });

  test("bounds the paths of a conflict and counts all of them", async ({ repo }) => {
    const files = (text: string) => Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}.txt`, text]));
    repo.commit(files("base\n"));
    repo.topic("feature", files("feature\n"));
    repo.commit(files("main\n"));
    const { details, text } = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);
    expect(details["totalPaths"]).toBe(150);
    expect(details["paths"]).toHaveLength(100);
    expect(text).toContain("… and 130 more");
  });

  test("stops before files of the user's, naming them", async ({ repo }) => {
    repo.topic("feature", { "new.txt": "theirs\n" });
    repo.write({ "new.txt": "mine\n" });
    const before = everything(repo);
    for (const preview of [true, false]) {
      const { details } = await callTool(repo, "integrate_branch", { ...FEATURE_TO_MAIN, preview });
      expect(details).toMatchObject({ outcome: "blocked", reason: "overlap", paths: ["new.txt"], totalPaths: 1 });
      expect(everything(repo)).toEqual(before);
    }
  });

  test("quotes the hook that refuses the merge", async ({ repo }) => {
    diverge(repo);
    repo.hook("pre-merge-commit", "echo not on Friday >&2; exit 1");
    const { details } = await callTool(repo, "integrate_branch", FEATURE_TO_MAIN);
    expect(details).toMatchObject({ outcome: "blocked", reason: "hook-rejected" });
    expect(details["output"]).toContain("not on Friday");
  });

  for (const [reason, args] of [
    ["branch-missing", { sourceBranch: "nowhere" }],
    ["branch-missing", { targetBranch: "nowhere" }],
    ["same-branch", { sourceBranch: "main" }],
    ["invalid-branch-name", { sourceBranch: "refs/heads/feature" }],
    ["invalid-branch-name", { sourceBranch: "feature~0" }],
    ["invalid-branch-name", { targetBranch: "-f" }],
  ] as const) {
    test(`is blocked by ${reason}: ${JSON.stringify(args)}`, async ({ repo }) => {
      repo.topic("feature", { "a.txt": "a\n" });
      const before = everything(repo);
      const { details } = await callTool(repo, "integrate_branch", { ...FEATURE_TO_MAIN, ...args });
      expect(details).toMatchObject({ outcome: "blocked", reason });
      expect(everything(repo)).toEqual(before);
    });
  }

  test("lands no run, neither the one that goes on nor another", async ({ repo }) => {
    const worktree = repo.linkedWorktree("ultrathink/x");
    repo.commit({ "a.txt": "a\n" }, worktree);
    const before = everything(repo);
    const activeRun = { worktree, branch: "ultrathink/x" };
    for (const args of [
      { sourceBranch: "ultrathink/x", targetBranch: "main" },
      { sourceBranch: "main", targetBranch: "ultrathink/x" },
    ]) {
      const { details } = await callTool(repo, "integrate_branch", args, { activeRun });
      expect(details).toMatchObject({ outcome: "blocked", reason: "owned-by-run" });
    }
    expect(everything(repo)).toEqual(before);
    repo.git("worktree", "lock", "--reason=ultrathink run r1 (x)", worktree);
    const { details } = await callTool(repo, "integrate_branch", {
      sourceBranch: "ultrathink/x",
      targetBranch: "main",
    });
    expect(details).toMatchObject({ outcome: "blocked", reason: "owned-by-run" });
  });
});

describe("a preview", () => {
  test("tells each outcome and changes nothing", async ({ repo }) => {
    diverge(repo);
    repo.git("branch", "old", "main~1");
    repo.topic("ahead", { "ahead.txt": "ahead\n" });
    repo.git("switch", "--quiet", "--create", "clash", "main~1");
    repo.commit({ "shared.txt": "clash\n" });
    repo.git("switch", "--quiet", "main");
    repo.hook("pre-merge-commit", "touch ../hook-ran");
    repo.makeDirty();
    const before = everything(repo);
    const outcomes: Record<string, unknown> = {};
    for (const sourceBranch of ["feature", "old", "ahead", "clash"]) {
      const { details } = await callTool(repo, "integrate_branch", { ...FEATURE_TO_MAIN, sourceBranch, preview: true });
      expect(details["preview"]).toBe(true);
      outcomes[sourceBranch] = details["outcome"];
    }
    // makeDirty committed on main, so that `ahead` is no longer ahead.
    expect(outcomes).toEqual({
      feature: "merge_commit",
      old: "already_integrated",
      ahead: "merge_commit",
      clash: "conflict",
    });
    expect(everything(repo)).toEqual(before);
    expect(existsSync(join(repo.path, ".git/ultrathink"))).toBe(false);
    expect(existsSync(join(repo.base, "hook-ran"))).toBe(false);
  });

  test("names the paths that would change", async ({ repo }) => {
    const tip = repo.topic("feature", { "a.txt": "a\n", "b.txt": "b\n" });
    const { details, text } = await callTool(repo, "integrate_branch", { ...FEATURE_TO_MAIN, preview: true });
    expect(details).toMatchObject({
      outcome: "fast_forward",
      to: tip,
      changes: { paths: ["a.txt", "b.txt"], totalPaths: 2 },
    });
    expect(text).toContain("nothing changed");
    expect(repo.tip("main")).not.toBe(tip);
  });
});

describe("after a crash", () => {
  /** A landing that dies when it is about to do `step`, journalled as integrate_branch does. */
  async function crashedAt(repo: TestRepo, step: "building" | "syncing") {
    const sourceTip = repo.topic("feature", { "feature.txt": "feature\n" });
    const targetTip = repo.tip("main");
    const repository = await openRepository(repo.path, { env: repo.env() });
    const request = {
      id: "crashed",
      source: toBranchName("feature"),
      target: toBranchName("main"),
      policy: "integrate",
    } as const;
    const perform = performIn({ repository });
    const crash = runLanding(
      { step: "planning", attempt: 1, request },
      (state) => (state.step === step ? Promise.reject(new Error("crash")) : perform(state)),
      (state) => appendRecord(journalPath(repository.commonDir, "crashed"), { type: "landing", state }),
    );
    await expect(crash).rejects.toThrow("crash");
    return { sourceTip, targetTip };
  }

  test("the next call finishes an integration that had moved the target", async ({ repo }) => {
    const { sourceTip } = await crashedAt(repo, "syncing");
    expect(repo.tip("main")).toBe(sourceTip);
    expect(existsSync(join(repo.path, "feature.txt"))).toBe(false);

    const { details } = await callTool(repo, "integrate_branch", { sourceBranch: "feature", targetBranch: "main" });
    expect(details["outcome"]).toBe("already_integrated");
    expect(repo.read("feature.txt")).toBe("feature\n");
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(journals(repo)).toEqual(["crashed.jsonl"]);
  });

  test("the next call drops one that had moved nothing, and leaves the journals of runs alone", async ({ repo }) => {
    const { targetTip } = await crashedAt(repo, "building");
    const run = join(repo.path, ".git/ultrathink/runs/run1.jsonl");
    await appendRecord(run, { type: "started", run: { id: "run1" } });
    await appendRecord(run, { type: "landing", state: { step: "planning", attempt: 1, request: {} } });
    const { details } = await callTool(repo, "integrate_branch", { sourceBranch: "nowhere", targetBranch: "main" });
    expect(details).toMatchObject({ outcome: "blocked", reason: "branch-missing" });
    expect(journals(repo)).toEqual(["run1.jsonl"]);
    expect(repo.tip("main")).toBe(targetTip);
  });
});
