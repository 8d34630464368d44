import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toBranchName } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { worktrees } from "../../src/git/worktree-list.ts";
import { createWorktree } from "../../src/worktree/create.ts";
import { inspectWorktree } from "../../src/worktree/inspect.ts";
import {
  DEFAULT_TEMPLATE,
  owningRun,
  runLockReason,
  runWorktreeFolder,
  runWorktreeName,
  runWorktreePath,
  scratchBranch,
} from "../../src/worktree/place.ts";
import { removeLinkedWorktree } from "../../src/worktree/remove.ts";
import { type TestRepo, test } from "../support/repo.ts";

const open = (repo: TestRepo, cwd = repo.path) => openRepository(cwd, { env: repo.env() });

describe("a run's worktree", () => {
  test("is locked from birth by its run, beside the main worktree", async ({ repo }) => {
    const path = runWorktreePath({ mainWorktree: repo.path, template: DEFAULT_TEMPLATE }, "fix-it");
    const branch = scratchBranch("fix-it");
    const lockReason = runLockReason("abc123", "fix-it");
    const checkout = { kind: "new-branch", branch, start: repo.tip("main") } as const;
    const repository = await open(repo);

    const created = await createWorktree(repository, { path, checkout, lockReason, makeParent: true });

    expect(created).toMatchObject({
      kind: "created",
      path: `${repo.path}.worktrees/fix-it`,
      branch: "ultrathink/fix-it",
    });
    const [, worktree] = await worktrees(repository.git);
    expect(worktree?.locked).toBe("ultrathink run abc123 (fix-it)");
    expect(worktree && owningRun(worktree)).toBe("abc123");
    expect(owningRun({ locked: "on a stick" })).toBeUndefined();
    expect(owningRun({ locked: undefined })).toBeUndefined();
  });

  test("is where the template says, whatever component the slug is in", () => {
    for (const [template, path, folder, name] of [
      [DEFAULT_TEMPLATE, "/src/shop.worktrees/fix", "/src/shop.worktrees", "fix"],
      ["{slug}", "/src/fix", "/src", "fix"],
      ["../trees/{repo}-{slug}", "/trees/shop-fix", "/trees", "shop-fix"],
      ["{parent}/t/x-{slug}-y/{repo}/z", "/src/t/x-fix-y/shop/z", "/src/t", "x-fix-y"],
      ["/fast/{slug}/{slug}", "/fast/fix/fix", "/fast", "fix"],
      ["~/trees/{slug}", `${homedir()}/trees/fix`, `${homedir()}/trees`, "fix"],
    ] as const) {
      const places = { mainWorktree: "/src/shop", template };
      expect(runWorktreePath(places, "fix")).toBe(path);
      expect(runWorktreeFolder(places)).toBe(folder);
      expect(runWorktreeName(places, "fix")).toBe(name);
    }
  });

  test("makes no parent folder unless asked to", async ({ repo }) => {
    const checkout = { kind: "branch", branch: toBranchName("topic") } as const;
    repo.git("branch", "topic");
    const refused = await createWorktree(await open(repo), { path: join(repo.base, "no/wt"), checkout });
    expect(refused).toMatchObject({ kind: "refused", reason: { kind: "parent-missing" } });
    expect(existsSync(join(repo.base, "no"))).toBe(false);
  });

  test("takes an existing branch back to nobody when git fails half way", async ({ repo }) => {
    const tip = repo.topic("topic", { "a.bin": "a\n", ".gitattributes": "*.bin filter=lost\n" });
    repo.git("config", "filter.lost.smudge", "false");
    repo.git("config", "filter.lost.required", "true");
    const checkout = { kind: "branch", branch: toBranchName("topic") } as const;
    const repository = await open(repo);
    const path = join(repo.base, "deep/er/wt");

    const refused = await createWorktree(repository, { path, checkout, lockReason: "a run", makeParent: true });

    expect(refused).toMatchObject({ kind: "refused", reason: { kind: "filter-failed", filter: "lost" } });
    expect(existsSync(join(repo.base, "deep"))).toBe(false);
    expect(await worktrees(repository.git)).toHaveLength(1);
    expect(repo.tip("topic")).toBe(tip);
  });
});

describe("removing a worktree", () => {
  test("that breaks off says at what, leaves the worktree whole, and can be tried again", async ({ repo }) => {
    const path = repo.linkedWorktree("topic");
    repo.commit({ "stuck/file.txt": "x\n", "a.txt": "1\n", "z.txt": "1\n" }, path);
    const before = repo.gitIn(path, "ls-files", "--stage");
    const free = makeUndeletable(join(path, "stuck"));
    try {
      const removed = await removeLinkedWorktree(await open(repo), { path });
      expect(removed).toMatchObject({
        reason: {
          kind: "left-over",
          output: expect.stringContaining("stuck/file.txt"),
          paths: expect.arrayContaining([".git", "README.md", "a.txt", "stuck", "z.txt"]),
        },
      });
      expect(repo.gitIn(path, "status", "--porcelain")).toBe("");
      expect(repo.gitIn(path, "ls-files", "--stage")).toBe(before);
    } finally {
      free();
    }

    expect(await removeLinkedWorktree(await open(repo), { path })).toMatchObject({ kind: "removed" });

    expect(existsSync(path)).toBe(false);
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });

  test("takes names that are not UTF-8 with it", async ({ repo }) => {
    const path = repo.linkedWorktree("topic");
    mkdirSync(Buffer.concat([Buffer.from(`${path}/d`), Buffer.from([0xe9])]));
    writeFileSync(
      Buffer.concat([Buffer.from(`${path}/d`), Buffer.from([0xe9]), Buffer.from("/f"), Buffer.from([0xff])]),
      "",
    );
    repo.gitIn(path, "add", "--all");
    repo.gitIn(path, "commit", "--quiet", "--message=odd");
    expect(await removeLinkedWorktree(await open(repo), { path })).toMatchObject({ kind: "removed" });
    expect(existsSync(path)).toBe(false);
  });

  test("whose directory is gone drops its registration only", async ({ repo }) => {
    const path = repo.linkedWorktree("topic");
    repo.linkedWorktree("other");
    execFileSync("rm", ["-r", path]);
    const removed = await removeLinkedWorktree(await open(repo), { path });
    expect(removed).toMatchObject({ kind: "removed", wasMissing: true, branch: "topic" });
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(2);
    expect(repo.tip("topic")).toBe(repo.tip("main"));
  });
});

/** @returns what makes it deletable again. */
function makeUndeletable(folder: string): () => void {
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o555);
    return () => chmodSync(folder, 0o755);
  }
  execFileSync("chattr", ["+i", folder]); // permissions do not stop the superuser
  return () => existsSync(folder) && execFileSync("chattr", ["-i", folder]);
}

test("an inspection counts unmerged entries, and does not see those of another repository", async ({ repo }) => {
  repo.commit({ "a.txt": "base\n" });
  repo.topic("other", { "a.txt": "other\n" });
  const path = repo.linkedWorktree("topic");
  repo.commit({ "a.txt": "topic\n" }, path);
  expect(() => repo.gitIn(path, "merge", "other")).toThrow();
  const repository = await open(repo);
  const [main, topic] = await worktrees(repository.git);
  if (main === undefined || topic === undefined) throw new Error("two worktrees expected");
  expect(await inspectWorktree(repository, topic)).toEqual({
    kind: "present",
    dirty: { staged: 0, unstaged: 0, untracked: 0, unmerged: 1 },
  });
  mkdirSync(join(repo.base, "elsewhere"));
  repo.gitIn(join(repo.base, "elsewhere"), "init", "--quiet");
  const elsewhere = await open(repo, join(repo.base, "elsewhere"));
  expect(await inspectWorktree(elsewhere, main)).toMatchObject({ kind: "unreadable" });
});
