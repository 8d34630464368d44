import { join } from "node:path";
import { describe, expect } from "vitest";
import { equippedRun } from "../support/equipped-run.ts";
import { test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

describe("commit_iteration", () => {
  test("commits everything but ignored files, wherever in the worktree it is called", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.log\n", "old.txt": "old\n", "deep/a.txt": "a\n" });
    const worktree = repo.linkedWorktree("topic");
    const parent = repo.tip("topic");
    repo.write({ "new.txt": "new\n", "deep/a.txt": "changed\n", "x.log": "log\n" }, worktree);
    repo.gitIn(worktree, "rm", "--quiet", "old.txt");
    repo.makeDirty();
    const before = repo.snapshot();

    const options = { cwd: join(worktree, "deep") };
    const { details } = await callTool(repo, "commit_iteration", { subject: "Do it", body: "Because.\n" }, options);

    const commit = repo.tip("topic");
    const changes = { paths: ["deep/a.txt", "new.txt", "old.txt"], totalPaths: 3, added: 2, deleted: 2 };
    expect(details).toMatchObject({
      outcome: "committed",
      worktreePath: worktree,
      branch: "topic",
      commit,
      parent,
      changes,
    });
    expect(repo.git("log", "-1", "--format=%B%P", "topic")).toBe(`Do it\n\nBecause.\n${parent}`);
    expect(repo.gitIn(worktree, "status", "--porcelain", "--ignored")).toBe("!! x.log");
    expect(repo.snapshot()).toEqual(before);
  });

  test("reports unchanged without a commit", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    const { details } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
    expect(details).toMatchObject({ outcome: "unchanged", head: repo.tip("main"), branch: "topic" });
    expect(repo.tip("topic")).toBe(repo.tip("main"));
  });

  test("takes a subject that looks like an option or a comment as it is", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    for (const subject of ["--amend", "# not a comment", "-m x", "%H $(id) `id`"]) {
      repo.write({ "a.txt": subject }, worktree);
      const { details } = await callTool(repo, "commit_iteration", { subject, worktreePath: worktree });
      expect(details["outcome"]).toBe("committed");
      expect(repo.git("log", "-1", "--format=%s", "topic")).toBe(subject);
    }
    expect(repo.git("rev-list", "--count", "main..topic")).toBe("4");
  });

  test("leaves a repository of its own out and names it", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.gitIn(worktree, "init", "--quiet", "inner");
    repo.write({ "inner/x.txt": "x\n", "a.txt": "a\n" }, worktree);
    const { details } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
    expect(details).toMatchObject({ outcome: "committed", leftOut: { paths: ["inner/"], totalPaths: 1 } });
    expect(repo.git("ls-tree", "-r", "--name-only", "topic")).toBe("README.md\na.txt");
  });

  test("quotes the hook that rejects, and the work stays", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.hook("pre-commit", 'echo "lint: token=supersecret1 is bad" >&2; exit 1');
    repo.write({ "a.txt": "a\n" }, worktree);
    const { details, text } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
    expect(details).toMatchObject({
      outcome: "blocked",
      reason: "hook-rejected",
      output: "lint: token=[redacted] is bad",
    });
    expect(text).not.toContain("supersecret1");
    expect(repo.tip("topic")).toBe(repo.tip("main"));
    expect(repo.read("a.txt", worktree)).toBe("a\n");
  });

  test("says when the commit could not be signed", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.git("config", "commit.gpgSign", "true");
    repo.git("config", "gpg.program", "false");
    repo.write({ "a.txt": "a\n" }, worktree);
    const { details } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
    expect(details).toMatchObject({ outcome: "blocked", reason: "signing-failed" });
  });

  test("says that git knows no name to commit in", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.git("config", "--unset", "user.email");
    repo.git("config", "user.useConfigOnly", "true");
    repo.write({ "a.txt": "a\n" }, worktree);
    const { details } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
    expect(details).toMatchObject({ outcome: "blocked", reason: "identity-unknown" });
  });

  test("commits in no main worktree, no worktree of a run, no directory that is none", async ({ repo }) => {
    const owned = repo.linkedWorktree("ultrathink/x");
    repo.git("worktree", "lock", "--reason=ultrathink run r1 (x)", owned);
    repo.write({ "a.txt": "a\n" }, owned);
    repo.write({ "mine.txt": "mine\n" });
    const before = everything(repo);
    const blockedBy = async (args: object, cwd = repo.path) =>
      (await callTool(repo, "commit_iteration", { subject: "x", ...args }, { cwd })).details["reason"];

    expect(await blockedBy({})).toBe("main-worktree");
    expect(await blockedBy({ worktreePath: repo.path }, owned)).toBe("main-worktree");
    expect(await blockedBy({})).toBe("main-worktree");
    expect(await blockedBy({ worktreePath: owned })).toBe("owned-by-run");
    expect(await blockedBy({}, owned)).toBe("owned-by-run");
    expect(await blockedBy({ worktreePath: repo.base })).toBe("not-a-worktree");
    expect(everything(repo)).toEqual(before);
  });

  test("commits in the worktree of the run that goes on", async ({ repo }) => {
    const worktree = repo.linkedWorktree("ultrathink/x");
    repo.git("worktree", "lock", "--reason=ultrathink run r1 (x)", worktree);
    repo.write({ "a.txt": "a\n" }, worktree);
    const activeRun = { worktree, branch: "ultrathink/x" };
    const { details } = await callTool(repo, "commit_iteration", { subject: "x" }, { activeRun });
    expect(details).toMatchObject({ outcome: "committed", worktreePath: worktree });
  });

  test("leaves copies of the user's ignored files out of the run's commits", async ({ repo }) => {
    repo.commit({ ".gitignore": ".env\n" });
    repo.write({ ".env": "SECRET=1\n" });
    await equippedRun(repo, [": > .gitignore; exit 70"], { include: [".env"] });
    const worktree = `${repo.path}.worktrees/scripted-run`;
    const activeRun = { worktree, branch: "ultrathink/scripted-run" };
    const { details, text } = await callTool(repo, "commit_iteration", { subject: "x" }, { activeRun });
    expect(details).toMatchObject({ outcome: "committed", changes: { paths: [".gitignore"] } });
    expect(details).toMatchObject({ leftOut: { paths: [".env"] } });
    expect(text).toContain("copies of files that the user's checkout ignores");
  });

  for (const [reason, spoil] of [
    ["detached-head", ["switch", "--quiet", "--detach"]],
    ["operation", ["merge", "--quiet", "--no-ff", "--no-commit", "other"]],
  ] as const) {
    test(`is blocked by ${reason}`, async ({ repo }) => {
      repo.topic("other", { "b.txt": "b\n" });
      const worktree = repo.linkedWorktree("topic");
      repo.gitIn(worktree, ...spoil);
      repo.write({ "a.txt": "a\n" }, worktree);
      const { details } = await callTool(repo, "commit_iteration", { subject: "x", worktreePath: worktree });
      expect(details).toMatchObject({ outcome: "blocked", reason });
      expect(repo.tip("topic")).toBe(repo.tip("main"));
    });
  }
});
