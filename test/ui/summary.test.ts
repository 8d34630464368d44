import { describe, expect, test } from "vitest";
import type { BranchName, Oid, TreePath, WorktreePath } from "../../src/git/names.ts";
import type { RunReport } from "../../src/run/report.ts";
import { duration, summary } from "../../src/ui/summary.ts";

const oid = (digit: string) => digit.repeat(40) as Oid;
const commit = { oid: oid("a"), tree: oid("b"), parents: [], author: { name: "", email: "", date: "" } };

const report: RunReport = {
  run: {
    id: "id",
    slug: "fix-it",
    branch: "ultrathink/fix-it" as BranchName,
    worktree: "/src/my shop.worktrees/fix-it" as WorktreePath,
    original: "main" as BranchName,
    originalTip: oid("0"),
    base: oid("0"),
    task: "Fix it",
    owner: { host: "host", pid: 1, start: "1" },
  },
  checkout: "/src/my shop" as WorktreePath,
  stop: { kind: "no-git-changes" },
  ending: { kind: "nothing-to-land", ignored: [] },
  iterations: 2,
  commits: [{ ...commit, subject: "Fix it", body: "- really\n- now", message: "" }],
  stayed: 0,
  elapsedMs: 130_400,
  leftOut: [],
  observed: [],
  sandbox: { kind: "bubblewrap", network: true, coversRefs: true },
};

const preserved = { kind: "preserved", asAsked: false, uncommitted: 0, worktreeGone: false } as const;

describe("the summary", () => {
  test("of a landing tells old and new commits, and how to take it back", () => {
    const outcome = {
      kind: "rebase",
      sourceTip: oid("a"),
      from: oid("0"),
      to: oid("c"),
      rewritten: [{ from: oid("a"), to: oid("c") }],
      holder: report.checkout,
    } as const;
    const text = summary({ ...report, ending: { kind: "landed", outcome, notes: [], ignored: [] }, stayed: 1 });
    expect(text.split("\n")).toEqual([
      "✔ landed on main by rebase and fast-forward, 0000000 → ccccccc · 1 commit · 2 iterations · 2m10s",
      "  from ultrathink/fix-it onto main · the last iteration changed nothing",
      "  aaaaaaa → ccccccc  Fix it",
      "      - really",
      "      - now",
      "  worktree and scratch branch removed",
      "  undo: /ultrathink-runs undo fix-it",
      "  your 1 uncommitted file is as it was",
      "  sandbox: bubblewrap",
      "The working directory is your checkout again (branch main).",
    ]);
  });

  test("of a conflict says that nothing changed, and what to type next", () => {
    const reason = {
      kind: "conflicted",
      paths: ["a.txt" as TreePath],
      types: ["contents"],
      output: "",
      byDriver: [],
    } as const;
    const text = summary({ ...report, ending: { ...preserved, reason }, stayed: 3 });
    expect(text).toMatch(/^✖ not landed · 1 commit/);
    expect(text).toContain("  main and ultrathink/fix-it both change a.txt (1 conflict).\n");
    expect(text).toContain("  Nothing in your checkout changed.\n");
    expect(text).toContain("kept: branch ultrathink/fix-it (1 commit), worktree /src/my shop.worktrees/fix-it\n");
    expect(text).toContain("  resume: /ultrathink-runs resume fix-it   (the agent merges main and resolves)\n");
    expect(text).toContain("  your 3 uncommitted files are as they were\n");
  });

  test("of a cancelled run with open work says where to look, in words that a shell takes", () => {
    const text = summary({
      ...report,
      stop: { kind: "cancelled-by-interrupt" },
      ending: { ...preserved, uncommitted: 2 },
      commits: [],
    });
    expect(text).toContain("  cancelled: you interrupted it\n");
    expect(text).toContain("  2 files in that worktree not committed yet\n");
    expect(text).toContain("  look: git -C '/src/my shop.worktrees/fix-it' status\n");
    expect(text).toContain("  discard: /ultrathink-runs discard fix-it\n");
    expect(text).not.toContain("land:");
  });

  test("names what is in no commit and what went with the worktree, also by odd names", () => {
    const leftOut = [
      { path: "vendor/lib/" as TreePath, why: "nested-repository" },
      { path: "big\n.bin" as TreePath, why: "too-large" },
    ] as const;
    const text = summary({ ...report, leftOut, ending: { kind: "nothing-to-land", ignored: [".env" as TreePath] } });
    expect(text).toContain("  not committed, repositories of their own: vendor/lib/\n");
    expect(text).toContain('larger than 50 MiB: "big\\n.bin"\n');
    expect(text).toContain("  ignored files of the worktree went with it: .env\n");
  });

  test("of a run that git failed claims nothing about the checkout", () => {
    const text = summary({ ...report, ending: { kind: "unfinished", message: "git update-ref: locked" } });
    expect(text).toMatch(/^✖ not finished/);
    expect(text).toContain("then git failed: git update-ref: locked");
    expect(text).not.toContain("Nothing in your checkout changed");
  });
});

test.each([
  [400, "0s"],
  [59_400, "59s"],
  [59_600, "1m00s"],
  [3_601_000, "60m01s"],
])("duration(%i) is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
