import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

const args = (repo: TestRepo, extra: object = {}) => ({
  worktreePath: join(repo.base, "wt"),
  branchName: "topic/x",
  branchMode: "new",
  ...extra,
});

describe("create_worktree", () => {
  test("hands over a verified worktree on a new branch and leaves the checkout alone", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();

    const { details, text } = await callTool(repo, "create_worktree", args(repo));

    const head = repo.tip("main");
    const cwd = join(repo.base, "wt");
    expect(details).toMatchObject({ outcome: "created", handoff: { cwd, branch: "topic/x", head, ready: true } });
    expect(text).toContain(cwd);
    expect(repo.gitIn(cwd, "symbolic-ref", "HEAD")).toBe("refs/heads/topic/x");
    expect(repo.gitIn(cwd, "status", "--porcelain")).toBe("");
    expect(repo.snapshot()).toEqual(before);
  });

  test("gives the canonical path of one asked for through a symbolic link, parents made", async ({ repo }) => {
    symlinkSync(repo.base, join(repo.base, "link"));
    const { details } = await callTool(repo, "create_worktree", args(repo, { worktreePath: "../link/new/deep/wt/" }));
    expect(details).toMatchObject({ handoff: { cwd: join(repo.base, "new", "deep", "wt") } });
  });

  test("checks an existing branch out, not a tag of its name", async ({ repo }) => {
    const tip = repo.topic("topic/x", { "a.txt": "a\n" });
    repo.git("tag", "topic/x", "main");
    const { details } = await callTool(repo, "create_worktree", args(repo, { branchMode: "existing" }));
    expect(details).toMatchObject({ outcome: "created", handoff: { head: tip } });
    expect(existsSync(join(repo.base, "wt", "a.txt"))).toBe(true);
  });

  test("starts at the branch that baseRef names, not at a tag of its name", async ({ repo }) => {
    const tip = repo.topic("base", { "a.txt": "a\n" });
    repo.git("tag", "base", "main");
    const { details } = await callTool(repo, "create_worktree", args(repo, { baseRef: "base" }));
    expect(details).toMatchObject({ handoff: { head: tip } });
  });

  test("acts on the repository of the run that is going on", async ({ repo }) => {
    const worktree = repo.linkedWorktree("ultrathink/x");
    const tip = repo.commit({ "run.txt": "run\n" }, worktree);
    const activeRun = { worktree, branch: "ultrathink/x" };
    const { details } = await callTool(repo, "create_worktree", args(repo), { activeRun });
    expect(details).toMatchObject({ handoff: { head: tip } });
  });

  for (const [reason, spoil, extra] of [
    ["branch-exists", (repo: TestRepo) => repo.git("branch", "topic/x"), {}],
    ["branch-missing", () => undefined, { branchMode: "existing" }],
    ["branch-clash", (repo: TestRepo) => repo.git("branch", "topic"), {}],
    ["branch-checked-out", () => undefined, { branchName: "main", branchMode: "existing" }],
    ["base-of-existing-branch", () => undefined, { branchName: "main", branchMode: "existing", baseRef: "main" }],
    ["base-not-found", () => undefined, { baseRef: "nowhere" }],
    ["base-not-found", () => undefined, { baseRef: "--all" }],
    ["base-not-found", () => undefined, { baseRef: "^main" }],
    ["base-not-found", () => undefined, { baseRef: "main\nx" }],
    ["base-not-found", () => undefined, { baseRef: "main^{tree}" }],
    ["invalid-branch-name", () => undefined, { branchName: "@{-1}" }],
    ["invalid-branch-name", () => undefined, { branchName: "--orphan" }],
    ["invalid-path", () => undefined, { worktreePath: `../${"x".repeat(300)}` }],
    ["invalid-path", () => undefined, { worktreePath: "../\ud800" }],
    ["path-exists", (repo: TestRepo) => mkdirSync(join(repo.base, "wt")), {}],
    ["path-exists", (repo: TestRepo) => symlinkSync("nowhere", join(repo.base, "wt")), {}],
    ["path-not-writable", () => undefined, { worktreePath: "/proc/none/wt" }],
    ["parent-missing", (repo: TestRepo) => writeFileSync(join(repo.base, "file"), ""), { worktreePath: "../file/wt" }],
    ["inside-worktree", () => undefined, { worktreePath: "deep/er/wt" }],
    ["changed-by-hook", (repo: TestRepo) => repo.hook("post-checkout", "git update-ref --no-deref HEAD HEAD"), {}],
    ["git-failed", (repo: TestRepo) => repo.hook("post-checkout", "touch made-by-hook; exit 1"), {}],
    ["git-failed", (repo: TestRepo) => repo.hook("post-checkout", "exit 1"), { worktreePath: "../p/q/wt" }],
  ] as const) {
    test(`is blocked by ${reason} and leaves nothing: ${JSON.stringify(extra).slice(0, 60)}`, async ({ repo }) => {
      spoil(repo);
      const before = everything(repo);
      const folders = readdirSync(repo.base);

      const { details, text } = await callTool(repo, "create_worktree", args(repo, extra));

      expect(details).toMatchObject({ outcome: "blocked", reason });
      expect(text).toMatch(/^Blocked: .+\n(.*\n)*Next: .+/);
      expect(everything(repo)).toEqual(before);
      expect(readdirSync(repo.base)).toEqual(folders);
    });
  }

  test("says that there is no commit yet", async ({ repo }) => {
    repo.git("switch", "--quiet", "--orphan", "unborn");
    const { details, text } = await callTool(repo, "create_worktree", args(repo));
    expect(details).toMatchObject({ outcome: "blocked", reason: "no-commit" });
    expect(text).toContain("no commit yet");
  });

  test("is blocked outside of a repository, and where there is no directory", async ({ repo }) => {
    for (const cwd of [repo.base, join(repo.base, "nowhere"), join(repo.path, "README.md")]) {
      const { details } = await callTool(repo, "create_worktree", args(repo), { cwd });
      expect(details).toMatchObject({ outcome: "blocked", reason: "not-a-repository" });
    }
  });

  test("is blocked when it is cancelled", async ({ repo }) => {
    const before = everything(repo);
    const { details } = await callTool(repo, "create_worktree", args(repo), { signal: AbortSignal.abort() });
    expect(details).toMatchObject({ outcome: "blocked", reason: "aborted" });
    expect(everything(repo)).toEqual(before);
  });
});
