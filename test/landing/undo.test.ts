import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toBranchName } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { performIn } from "../../src/landing/perform.ts";
import { runLanding } from "../../src/landing/run.ts";
import { undoLanding } from "../../src/landing/undo.ts";
import { type TestRepo, test } from "../support/repo.ts";

const branches = { source: toBranchName("topic"), target: toBranchName("main") };
const nowhere = async () => undefined;

async function land(repo: TestRepo) {
  const repository = await openRepository(repo.path, { env: repo.env() });
  const request = { id: "landing", ...branches, policy: "merge" } as const;
  const end = await runLanding({ step: "planning", attempt: 1, request }, performIn({ repository }), nowhere);
  if (end.step !== "landed" || end.outcome.kind === "already-integrated") throw new Error("set-up did not land");
  return { repository, landed: end.outcome.to };
}

describe("undoing a landing", () => {
  test("puts the target and the holder back, the user's changes as they are now", async ({ repo }) => {
    repo.makeDirty();
    const old = repo.tip("main");
    repo.git("branch", "topic");
    const worktree = join(repo.base, "topic");
    repo.git("worktree", "add", "--quiet", worktree, "topic");
    const source = repo.commit({ "a.txt": "a\n", "README.md": "changed\n" }, worktree);
    const before = repo.snapshot();
    const { repository, landed } = await land(repo);
    repo.write({ "unstaged.txt": "edited since\n" });

    const end = await undoLanding(repository, { id: "undo", landing: "landing", ...branches, landed }, nowhere);

    expect(end).toMatchObject({ step: "landed", outcome: { kind: "undo", from: landed, to: old } });
    expect(repo.tip("main")).toBe(old);
    expect(existsSync(join(repo.path, "a.txt"))).toBe(false);
    repo.write({ "unstaged.txt": "unstaged\n" });
    expect(repo.snapshot()).toEqual(before);
    expect(repo.git("for-each-ref", "--contains", source)).toContain("refs/ultrathink/undo/source");
  });

  test("refuses when the target has moved on, and says so", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const { repository, landed } = await land(repo);
    const moved = repo.commit({ "b.txt": "b\n" });

    const end = await undoLanding(repository, { id: "undo", landing: "landing", ...branches, landed }, nowhere);

    expect(end).toMatchObject({ step: "nothing-to-undo", why: expect.stringContaining(moved) });
    expect(repo.tip("main")).toBe(moved);
  });

  test("refuses when the user has edited what landed", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const { repository, landed } = await land(repo);
    repo.write({ "a.txt": "edited\n" });
    const before = { ...repo.snapshot(), main: repo.tip("main") };

    const end = await undoLanding(repository, { id: "undo", landing: "landing", ...branches, landed }, nowhere);

    expect(end).toMatchObject({ step: "stopped", reason: { kind: "overlap", paths: ["a.txt"] } });
    expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
  });

  test("says so when its backup is gone", async ({ repo }) => {
    repo.topic("topic", { "a.txt": "a\n" });
    const { repository, landed } = await land(repo);
    repo.git("update-ref", "-d", "refs/ultrathink/landing/target");

    const end = await undoLanding(repository, { id: "undo", landing: "landing", ...branches, landed }, nowhere);

    expect(end).toMatchObject({ step: "nothing-to-undo", why: expect.stringContaining("no backup") });
    expect(repo.tip("main")).toBe(landed);
  });
});
