import { existsSync } from "node:fs";
import { describe, expect } from "vitest";
import { toBranchName, toWorktreePath } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { performIn } from "../../src/landing/perform.ts";
import { runLanding } from "../../src/landing/run.ts";
import type { Policy, State } from "../../src/landing/state.ts";
import { type TestRepo, test } from "../support/repo.ts";

interface Options {
  readonly policy?: Policy;
  readonly target?: string;
  readonly retire?: string;
}

async function land(repo: TestRepo, { policy = "auto", target = "main", retire }: Options = {}) {
  const repository = await openRepository(repo.path, { env: repo.env() });
  const request = {
    id: "test",
    source: toBranchName("topic"),
    target: toBranchName(target),
    policy,
    retire: retire === undefined ? undefined : toWorktreePath(retire),
  };
  const steps: string[] = [];
  const record = async (state: State) => void steps.push(state.step);
  const end = await runLanding({ step: "planning", attempt: 1, request }, performIn({ repository }), record);
  return { end, steps };
}

describe("a landing into a dirty holder", () => {
  test("fast-forwards one commit and keeps every change of the user's", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();
    repo.git("branch", "topic");
    const worktree = repo.linkedWorktree("other");
    repo.gitIn(worktree, "switch", "--quiet", "topic");
    const tip = repo.commit({ "new.txt": "new\n" }, worktree);

    const { end, steps } = await land(repo);

    expect(end).toMatchObject({ step: "landed", outcome: { kind: "fast-forward", to: tip } });
    expect(repo.tip("main")).toBe(tip);
    expect(repo.read("new.txt")).toBe("new\n");
    const { index: _, "file new.txt": __, ...after } = repo.snapshot();
    const { index: ___, ...expected } = before;
    expect(after).toEqual(expected);
    expect(steps).toEqual(["planning", "building", "checking", "advancing", "syncing", "cleaning", "landed"]);
  });

  test("rebases one commit onto a target that moved", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const main = repo.commit({ "b.txt": "b\n" });
    repo.write({ "README.md": "edited\n" });

    const { end } = await land(repo);

    expect(end).toMatchObject({ step: "landed", outcome: { kind: "rebase" } });
    expect(repo.tip("main^")).toBe(main);
    expect(repo.git("log", "-1", "--format=%s %an", "main")).toBe(repo.git("log", "-1", "--format=%s %an", "topic"));
    expect(repo.git("status", "--porcelain")).toBe(" M README.md");
    expect(repo.read("a.txt")).toBe("a\n");
  });

  test("merges two commits with exactly the two tips as parents", async ({ repo }) => {
    const topic = repo.topic("topic", { "a.txt": "a\n" }, { "a2.txt": "a\n" });
    const main = repo.tip("main");

    const { end } = await land(repo);

    expect(end).toMatchObject({ step: "landed", outcome: { kind: "merge" } });
    expect(repo.git("log", "-1", "--format=%P%n%s", "main")).toBe(`${main} ${topic}\nMerge branch 'topic'`);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("stops at a conflict and leaves everything as it was", async ({ repo }) => {
    repo.commit({ "a.txt": "1\n2\n3\n" });
    repo.topic("topic", { "a.txt": "1\ntopic\n3\n" });
    repo.commit({ "a.txt": "1\nmain\n3\n" });
    repo.makeDirty();
    const before = { ...repo.snapshot(), refs: repo.git("for-each-ref") };

    const { end } = await land(repo);

    expect(end).toMatchObject({ step: "stopped", reason: { kind: "conflicted", paths: ["a.txt"] } });
    expect({ ...repo.snapshot(), refs: repo.git("for-each-ref") }).toEqual(before);
  });

  for (const [what, path, kind] of [
    ["an edit of a tracked file", "tracked.txt", "overlap"],
    ["an untracked file", "untracked.txt", "overlap"],
    ["an ignored file", "local.secret", "would-overwrite-ignored"],
  ] as const) {
    test(`stops at ${what} in the way, before anything moved`, async ({ repo }) => {
      repo.commit({ "tracked.txt": "1\n", ".gitignore": "*.secret\n" });
      repo.git("switch", "--quiet", "--create", "topic");
      repo.write({ [path]: "theirs\n" });
      repo.git("add", "--force", path);
      repo.commit({});
      repo.git("switch", "--quiet", "main");
      repo.write({ [path]: "mine\n" });
      const before = { ...repo.snapshot(), refs: repo.git("for-each-ref") };

      const { end } = await land(repo);

      expect(end).toMatchObject({ step: "stopped", reason: { kind, paths: [path] } });
      expect({ ...repo.snapshot(), refs: repo.git("for-each-ref") }).toEqual(before);
    });
  }

  test("removes the run's worktree and branch, and keeps both tips under backup refs", async ({ repo }) => {
    const old = repo.tip("main");
    const worktree = repo.linkedWorktree("topic");
    repo.git("worktree", "lock", "--reason=test", worktree);
    const tip = repo.commit({ "a.txt": "a\n" }, worktree);

    const { end } = await land(repo, { retire: worktree });

    expect(end).toMatchObject({ step: "landed", notes: [] });
    expect(existsSync(worktree)).toBe(false);
    expect(repo.git("branch", "--list", "topic")).toBe("");
    expect(repo.tip("refs/ultrathink/test/source")).toBe(tip);
    expect(repo.tip("refs/ultrathink/test/target")).toBe(old);
  });

  test("moves only the ref when no worktree has the target", async ({ repo }) => {
    const tip = repo.topic("topic", { "a.txt": "a\n" });
    repo.git("branch", "release", "main");
    await land(repo, { target: "release" });
    expect(repo.tip("release")).toBe(tip);
    expect(existsSync(`${repo.path}/a.txt`)).toBe(false);
  });
});

describe("hooks", () => {
  test("that refuse a merge stop it with their own words", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" }, { "b.txt": "b\n" });
    repo.hook("commit-msg", 'echo "no ticket in the message" >&2; exit 1');
    const before = repo.snapshot();

    const { end } = await land(repo);

    expect(end).toMatchObject({ step: "stopped", reason: { kind: "hook-rejected", hook: "commit-msg" } });
    expect(JSON.stringify(end)).toContain("no ticket in the message");
    expect(repo.snapshot()).toEqual(before);
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });

  test("that rewrite the message of a merge are obeyed", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" }, { "b.txt": "b\n" });
    repo.hook("prepare-commit-msg", 'echo "hooked" > "$1"');
    await land(repo);
    expect(repo.git("log", "-1", "--format=%s", "main")).toBe("hooked");
  });
});
