import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toBranchName } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { performIn } from "../../src/landing/perform.ts";
import { runLanding } from "../../src/landing/run.ts";
import type { Policy } from "../../src/landing/state.ts";
import { type TestRepo, test } from "../support/repo.ts";

async function land(repo: TestRepo, target: string, policy: Policy = "integrate") {
  const repository = await openRepository(repo.path, { env: repo.env() });
  const request = { id: "test", source: toBranchName("topic"), target: toBranchName(target), policy };
  return runLanding({ step: "planning", attempt: 1, request }, performIn({ repository }), async () => undefined);
}

describe("the holder", () => {
  test("in another linked worktree is brought up to date there, its own changes kept", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const release = repo.linkedWorktree("release");
    repo.write({ "README.md": "edited there\n" }, release);

    expect(await land(repo, "release")).toMatchObject({ step: "landed", outcome: { holder: release } });

    expect(repo.read("a.txt", release)).toBe("a\n");
    expect(repo.gitIn(release, "status", "--porcelain")).toBe(" M README.md");
    expect(existsSync(join(repo.path, "a.txt"))).toBe(false);
  });

  for (const [what, breakIt, why] of [
    ["whose directory is missing", (path: string) => rmSync(path, { recursive: true }), "its directory is missing"],
    [
      "that somebody has locked",
      (path: string, repo: TestRepo) => repo.git("worktree", "lock", "--reason=on a disk", path),
      "on a disk",
    ],
  ] as const) {
    test(`${what} stops the landing, and nothing moved`, async ({ repo }) => {
      repo.topic("topic", { "a.txt": "a\n" });
      const release = repo.linkedWorktree("release");
      breakIt(release, repo);
      const refs = repo.git("for-each-ref");

      const end = await land(repo, "release");

      expect(end).toMatchObject({ step: "stopped", reason: { kind: "holder-unreadable", worktree: release } });
      expect(JSON.stringify(end)).toContain(why);
      expect(repo.git("for-each-ref")).toBe(refs);
    });
  }

  test("in the middle of a rebase that will move the target stops the landing, though its HEAD is detached", async ({
    repo,
  }) => {
    repo.commit({ "a.txt": "1\n" });
    repo.topic("topic", { "b.txt": "b\n" });
    const release = repo.linkedWorktree("release");
    repo.commit({ "a.txt": "theirs\n" }, release);
    repo.commit({ "a.txt": "ours\n" });
    expect(() => repo.gitIn(release, "rebase", "main")).toThrow();
    const tip = repo.tip("release");

    const end = await land(repo, "release");

    expect(end).toMatchObject({
      step: "stopped",
      reason: { kind: "target-busy", operation: "rebase", worktree: release },
    });
    expect(repo.tip("release")).toBe(tip);
  });

  test("keeps an intent to add, a staged deletion and a staged mode as they are", async ({ repo }) => {
    repo.commit({ "gone.txt": "1\n", "mode.sh": "1\n" });
    repo.topic("topic", { "a.txt": "a\n" });
    repo.write({ "later.txt": "later\n" });
    repo.git("add", "--intent-to-add", "later.txt");
    repo.git("rm", "--quiet", "--cached", "gone.txt");
    repo.git("update-index", "--chmod=+x", "mode.sh");
    const status = repo.git("status", "--porcelain=v2");

    expect(await land(repo, "main")).toMatchObject({ step: "landed" });

    expect(repo.git("status", "--porcelain=v2")).toBe(status);
    expect(repo.read("a.txt")).toBe("a\n");
  });

  test("that is a sparse checkout stays one", async ({ repo }) => {
    repo.commit({ "in/a.txt": "1\n", "out/b.txt": "1\n" });
    repo.topic("topic", { "in/a.txt": "2\n", "out/b.txt": "2\n" });
    repo.git("sparse-checkout", "set", "in");

    expect(await land(repo, "main")).toMatchObject({ step: "landed" });

    expect(repo.read("in/a.txt")).toBe("2\n");
    expect(existsSync(join(repo.path, "out"))).toBe(false);
    expect(repo.git("show", "main:out/b.txt")).toBe("2");
    expect(repo.git("status", "--porcelain")).toBe("");
  });
});

describe("what is built", () => {
  test("a squash is one commit on the target with the source's whole change", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" }, { "b.txt": "b\n" });
    const main = repo.commit({ "c.txt": "c\n" });

    expect(await land(repo, "main", "squash")).toMatchObject({ step: "landed", outcome: { kind: "squash" } });

    expect(repo.git("log", "-1", "--format=%P%n%s", "main")).toBe(`${main}\nSquashed branch 'topic'`);
    expect(repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual(["README.md", "a.txt", "b.txt", "c.txt"]);
  });

  test("a source that holds a merge is merged where a rebase was asked for", async ({ repo }) => {
    repo.topic("side", { "s.txt": "s\n" });
    repo.topic("topic", { "a.txt": "a\n" });
    repo.git("switch", "--quiet", "topic");
    repo.git("merge", "--quiet", "--no-edit", "side");
    repo.git("switch", "--quiet", "main");
    const main = repo.commit({ "c.txt": "c\n" });

    expect(await land(repo, "main", "rebase")).toMatchObject({ step: "landed", outcome: { kind: "merge" } });

    expect(repo.git("log", "-1", "--format=%P", "main")).toBe(`${main} ${repo.tip("topic")}`);
  });

  test("what a squash has brought already is not brought again", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" }, { "b.txt": "b\n" });
    repo.git("merge", "--quiet", "--squash", "topic");
    repo.git("commit", "--quiet", "--message=squashed by hand");
    const main = repo.tip("main");

    expect(await land(repo, "main")).toMatchObject({
      step: "landed",
      outcome: { kind: "already-integrated", equalTree: true },
    });

    expect(repo.tip("main")).toBe(main);
  });

  test("a rebase keeps authors, dates and messages, and drops what the target has already", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" }, { "b.txt": "b\n" });
    repo.git("cherry-pick", "topic~1");
    repo.commit({ "c.txt": "c\n" });
    const original = repo.git("log", "-1", "--format=%an %ae %ad%n%B", "topic");

    expect(await land(repo, "main", "rebase")).toMatchObject({ step: "landed", outcome: { kind: "rebase" } });

    expect(repo.git("log", "-1", "--format=%an %ae %ad%n%B", "main")).toBe(original);
    expect(repo.git("rev-list", "--count", "main")).toBe("4");
  });
});

test("a target that was moved back since the work began does not get back what was taken out of it", async ({
  repo,
}) => {
  const old = repo.tip("main");
  const targetWas = repo.commit({ "secret.txt": "s\n" });
  repo.topic("topic", { "a.txt": "a\n" });
  repo.git("reset", "--quiet", "--hard", old);
  const repository = await openRepository(repo.path, { env: repo.env() });
  const branches = { source: toBranchName("topic"), target: toBranchName("main") };
  const request = { id: "test", ...branches, policy: "auto", targetWas } as const;

  const end = await runLanding(
    { step: "planning", attempt: 1, request },
    performIn({ repository }),
    async () => undefined,
  );

  expect(end).toMatchObject({ step: "stopped", reason: { kind: "target-rewritten", was: targetWas, to: old } });
  expect(repo.tip("main")).toBe(old);
});
