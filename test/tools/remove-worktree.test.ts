import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

describe("remove_worktree", () => {
  test("removes a clean linked worktree and keeps its branch where it is", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    const head = repo.commit({ "a.txt": "a\n" }, worktree);

    const { details } = await callTool(repo, "remove_worktree", { worktreePath: worktree });

    const handoff = { cwd: null, branch: "topic", head, ready: false };
    expect(details).toMatchObject({ outcome: "removed", worktreePath: worktree, handoff });
    expect(existsSync(worktree)).toBe(false);
    expect(repo.tip("refs/heads/topic")).toBe(head);
    expect(repo.git("worktree", "list")).not.toContain(worktree);
  });

  test("names the ignored files that block it, and deletes them when told to", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.log\n" });
    const worktree = repo.linkedWorktree("topic");
    repo.write({ "a.log": "log\n" }, worktree);
    const first = await callTool(repo, "remove_worktree", { worktreePath: worktree });
    expect(first.details).toMatchObject({
      outcome: "blocked",
      reason: "ignored-files",
      paths: ["a.log"],
      totalPaths: 1,
    });
    expect(existsSync(join(worktree, "a.log"))).toBe(true);

    const { details } = await callTool(repo, "remove_worktree", { worktreePath: worktree, deleteIgnored: true });
    expect(details).toMatchObject({ outcome: "removed", deletedIgnored: { paths: ["a.log"], totalPaths: 1 } });
  });

  for (const [reason, spoil, expected] of [
    ["dirty", (repo, worktree) => repo.write({ "new.txt": "new\n" }, worktree), { paths: ["new.txt"] }],
    ["dirty", (repo, worktree) => repo.write({ "README.md": "mine\n" }, worktree), { paths: ["README.md"] }],
    [
      "hidden-edit",
      (repo, worktree) => {
        repo.gitIn(worktree, "update-index", "--assume-unchanged", "README.md");
        repo.write({ "README.md": "mine\n" }, worktree);
      },
      { paths: ["README.md"] },
    ],
    [
      "locked",
      (repo, worktree) => repo.git("worktree", "lock", "--reason=on a stick", worktree),
      { output: "on a stick" },
    ],
    ["owned-by-run", (repo, worktree) => repo.git("worktree", "lock", "--reason=ultrathink run r1 (x)", worktree), {}],
    ["missing", (_, worktree) => rmSync(worktree, { recursive: true }), {}],
    [
      "other-repository",
      (repo, worktree) => {
        rmSync(worktree, { recursive: true });
        repo.git("init", "--quiet", worktree);
      },
      {},
    ],
    [
      "unreachable-head",
      (repo, worktree) => {
        repo.gitIn(worktree, "switch", "--quiet", "--detach");
        repo.commit({ "only.txt": "here\n" }, worktree);
      },
      {},
    ],
    ["unreachable-ref", (repo, worktree) => repo.gitIn(worktree, "update-ref", "refs/worktree/wip", "HEAD"), {}],
    [
      "operation",
      (repo, worktree) => {
        repo.topic("other", { "b.txt": "b\n" });
        repo.gitIn(worktree, "merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "other");
      },
      {},
    ],
  ] as readonly (readonly [string, (repo: TestRepo, worktree: string) => unknown, object])[]) {
    test(`is blocked by ${reason} and changes nothing (${JSON.stringify(expected)})`, async ({ repo }) => {
      const worktree = repo.linkedWorktree("topic");
      spoil(repo, worktree);
      const before = everything(repo);

      const { details } = await callTool(repo, "remove_worktree", { worktreePath: worktree, deleteIgnored: true });

      expect(details).toMatchObject({ outcome: "blocked", reason, ...expected });
      expect(everything(repo)).toEqual(before);
      if (reason !== "missing") expect(existsSync(worktree)).toBe(true);
    });
  }

  test("is blocked by a repository of its own in an ignored folder", async ({ repo }) => {
    repo.commit({ ".gitignore": "vendor/\n" });
    const worktree = repo.linkedWorktree("topic");
    mkdirSync(join(worktree, "vendor"));
    repo.gitIn(join(worktree, "vendor"), "init", "--quiet", "inner");
    const { details } = await callTool(repo, "remove_worktree", { worktreePath: worktree, deleteIgnored: true });
    expect(details).toMatchObject({ outcome: "blocked", reason: "nested-repository", paths: ["vendor/inner"] });
  });

  test("removes neither the main worktree, nor the current one, nor what is none", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    const blockedBy = async (worktreePath: string, cwd = repo.path) =>
      (await callTool(repo, "remove_worktree", { worktreePath }, { cwd })).details["reason"];

    expect(await blockedBy(repo.path, worktree)).toBe("main-worktree");
    expect(await blockedBy(worktree, worktree)).toBe("current-worktree");
    for (const path of [repo.base, `${worktree}/`, "worktrees/topic", "--force", join(worktree, "README.md")]) {
      expect(await blockedBy(path)).toBe("not-a-worktree");
    }
    expect(existsSync(worktree)).toBe(true);
  });

  test("removes one whose detached HEAD is on a branch elsewhere", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.gitIn(worktree, "switch", "--quiet", "--detach");
    const { details } = await callTool(repo, "remove_worktree", { worktreePath: worktree });
    expect(details).toMatchObject({ outcome: "removed", handoff: { branch: null, head: repo.tip("main") } });
  });
});
