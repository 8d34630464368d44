import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { ListedWorktree } from "../../tools/list-worktrees.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { type CallOptions, callTool } from "./calls.ts";

async function list(repo: TestRepo, options?: CallOptions): Promise<readonly ListedWorktree[]> {
  const { details } = await callTool(repo, "list_worktrees", {}, options);
  expect(details["outcome"]).toBe("listed");
  return details["worktrees"] as ListedWorktree[];
}

const CLEAN = { staged: 0, unstaged: 0, untracked: 0, unmerged: 0 };

describe("list_worktrees", () => {
  test("tells main from linked, and which is current, locked, owned by a run and dirty", async ({ repo }) => {
    const { head, other, owned } = {
      head: repo.tip("main"),
      other: repo.linkedWorktree("other"),
      owned: repo.linkedWorktree("run"),
    };
    repo.git("worktree", "lock", "--reason=ultrathink run abc123 (fix-it)", owned);
    repo.write({ "README.md": "edited\n", "new.txt": "new\n", "also.txt": "new\n" }, other);
    repo.gitIn(other, "add", "new.txt");

    const listed = await list(repo, { cwd: other });

    const common = {
      head,
      bare: false,
      locked: null,
      prunable: null,
      owningRun: null,
      state: "present",
      problem: null,
    };
    expect(listed).toEqual([
      { ...common, path: repo.path, branch: "main", main: true, linked: false, current: false, dirty: CLEAN },
      {
        ...common,
        path: other,
        branch: "other",
        main: false,
        linked: true,
        current: true,
        dirty: { staged: 1, unstaged: 1, untracked: 1, unmerged: 0 },
      },
      {
        ...common,
        path: owned,
        branch: "run",
        main: false,
        linked: true,
        current: false,
        locked: "ultrathink run abc123 (fix-it)",
        owningRun: "abc123",
        dirty: CLEAN,
      },
    ]);
  });

  test("is not held up by worktrees that are missing, damaged, replaced or unreadable", async ({ repo }) => {
    const names = ["missing", "no-head", "replaced", "no-git-file", "closed", "sound"] as const;
    const at = Object.fromEntries(names.map((each) => [each, repo.linkedWorktree(each)])) as Record<
      (typeof names)[number],
      string
    >;
    rmSync(at.missing, { recursive: true });
    writeFileSync(join(repo.path, ".git/worktrees/no-head/HEAD"), "garbage\n");
    rmSync(at.replaced, { recursive: true });
    repo.git("init", "--quiet", at.replaced);
    rmSync(join(at["no-git-file"], ".git"));
    chmodSync(at.closed, 0o000);
    try {
      const listed = await list(repo);
      const states = Object.fromEntries(listed.map(({ path, state }) => [path, state]));
      // The user that the tests run as may be allowed everything.
      const closed = process.getuid?.() === 0 ? "present" : "unreadable";
      expect(states).toEqual({
        [repo.path]: "present",
        [at.missing]: "missing",
        [at["no-head"]]: "unreadable",
        [at.replaced]: "unreadable",
        [at["no-git-file"]]: "unreadable",
        [at.closed]: closed,
        [at.sound]: "present",
      });
      expect(listed.find(({ path }) => path === at.missing)).toMatchObject({ dirty: null, problem: null });
      expect(listed.find(({ path }) => path === at.missing)?.prunable).toContain("non-existent");
    } finally {
      chmodSync(at.closed, 0o755);
    }
  });

  test.skipIf(process.platform === "darwin")("gives a path that is not UTF-8 as bytes", async ({ repo }) => {
    const script = `git worktree add -q -b odd "$(printf '../caf\\351')"`;
    execFileSync("sh", ["-c", script], { cwd: repo.path, env: repo.env() });
    const bytes = Buffer.concat([Buffer.from(`${repo.base}/caf`), Buffer.from([0xe9])]);
    mkdirSync(join(repo.base, "café")); // what a careless reading would take it for

    const listed = await list(repo);
    expect(listed[1]).toMatchObject({ path: { base64: bytes.toString("base64") }, state: "unreadable", branch: "odd" });
    const { details } = await callTool(repo, "remove_worktree", { worktreePath: join(repo.base, "café") });
    expect(details).toMatchObject({ outcome: "blocked", reason: "not-a-worktree" });
  });

  test("shows the repository of the run that goes on as current", async ({ repo }) => {
    const worktree = repo.linkedWorktree("ultrathink/x");
    const listed = await list(repo, { activeRun: { worktree, branch: "ultrathink/x" } });
    expect(listed.map(({ current }) => current)).toEqual([false, true]);
  });

  test("lists a bare repository and an unborn branch", async ({ repo }) => {
    repo.git("clone", "--quiet", "--bare", ".", "../bare.git");
    expect(await list(repo, { cwd: join(repo.base, "bare.git") })).toMatchObject([
      { bare: true, state: "bare", dirty: null },
    ]);
    repo.git("switch", "--quiet", "--orphan", "unborn");
    expect(await list(repo)).toMatchObject([{ branch: "unborn", head: null, dirty: CLEAN }]);
  });
});
