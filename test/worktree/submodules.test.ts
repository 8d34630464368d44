import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toWorktreePath } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { worktrees } from "../../src/git/worktree-list.ts";
import { removeLinkedWorktree } from "../../src/worktree/remove.ts";
import { initSubmodules } from "../../src/worktree/submodules.ts";
import { type TestRepo, test } from "../support/repo.ts";

const LOCAL = ["-c", "protocol.file.allow=always"];

/** A repository beside the one under test, with one file of its own name. */
function library(repo: TestRepo, name: string): string {
  const path = join(repo.base, "upstream", name);
  mkdirSync(path, { recursive: true });
  repo.gitIn(path, "init", "--quiet", "--initial-branch=main");
  for (const [key, value] of [
    ["user.name", "A"],
    ["user.email", "a@b"],
  ] as const)
    repo.gitIn(path, "config", key, value);
  repo.commit({ [`${name}.txt`]: "1\n" }, path);
  return path;
}

function addSubmodule(repo: TestRepo, url: string, path: string, name = path, cwd = repo.path): void {
  repo.gitIn(cwd, ...LOCAL, "submodule", "--quiet", "add", "--name", name, url, path);
  repo.commit({}, cwd);
}

async function init(repo: TestRepo, worktree: string, checkout = repo.path) {
  const repository = await openRepository(checkout, { env: repo.env() });
  return initSubmodules(repository, toWorktreePath(checkout), toWorktreePath(worktree));
}

async function remove(repo: TestRepo, path: string, deleteIgnored = false) {
  return removeLinkedWorktree(await openRepository(repo.path, { env: repo.env() }), { path, deleteIgnored });
}

describe("submodules of a new worktree", () => {
  test("come from the user's own, nested ones too, and nothing is asked of where they are from", async ({ repo }) => {
    const inner = library(repo, "inner");
    const lib = library(repo, "lib");
    addSubmodule(repo, inner, "deep/inner", "inner", lib);
    addSubmodule(repo, lib, "libs/one", 'odd=name "x"');
    repo.git(...LOCAL, "submodule", "--quiet", "update", "--init", "--recursive");
    rmSync(join(repo.base, "upstream"), { recursive: true });
    const before = { ...repo.snapshot(), config: repo.read(".git/config") };
    const worktree = repo.linkedWorktree("topic");

    const done = await init(repo, worktree);

    expect(done).toEqual({ ready: ["libs/one", "libs/one/deep/inner"], missing: [] });
    expect(repo.read("libs/one/lib.txt", worktree)).toBe("1\n");
    expect(repo.read("libs/one/deep/inner/inner.txt", worktree)).toBe("1\n");
    expect(repo.gitIn(worktree, "status", "--porcelain", "--ignore-submodules=none")).toBe("");
    expect(repo.gitIn(join(worktree, "libs/one"), "remote", "get-url", "origin")).toBe(lib);
    expect({ ...repo.snapshot(), config: repo.read(".git/config") }).toEqual(before);
  });

  test("come from one with its git directory inside, and from one that the user's branch does not have", async ({
    repo,
  }) => {
    const start = repo.tip("main");
    const embedded = join(repo.path, "embedded");
    repo.git("clone", "--quiet", library(repo, "lib"), embedded);
    repo.git("submodule", "--quiet", "add", "../upstream/lib", "embedded");
    addSubmodule(repo, library(repo, "other"), "other");
    repo.git("branch", "with", "main");
    const worktree = repo.linkedWorktree("topic");
    expect(await init(repo, worktree)).toEqual({ ready: ["embedded", "other"], missing: [] });

    repo.git("switch", "--quiet", "--create", "without", start);
    rmSync(join(repo.path, "other"), { recursive: true, force: true });
    const second = repo.linkedWorktree("second", "with");
    expect(await init(repo, second)).toMatchObject({ ready: ["embedded", "other"] });
    expect(repo.read("other/other.txt", second)).toBe("1\n");
  });

  test("that are not on this machine, or not with their commit, are named", async ({ repo }) => {
    addSubmodule(repo, library(repo, "lib"), "lib");
    addSubmodule(repo, library(repo, "gone"), "gone");
    addSubmodule(repo, library(repo, "unused"), "unused");
    rmSync(join(repo.path, ".git/modules/gone"), { recursive: true });
    rmSync(join(repo.path, ".git/modules/unused"), { recursive: true });
    repo.git("config", "--remove-section", "submodule.unused");
    repo.git("update-index", "--cacheinfo", `160000,${repo.tip("main")},lib`);
    repo.git("commit", "--quiet", "--message=newer lib");
    const worktree = repo.linkedWorktree("topic");

    const { ready, missing } = await init(repo, worktree);

    expect(ready).toEqual([]);
    expect(missing).toEqual([
      { path: "lib", why: `its commit ${repo.tip("main^")} is not on this machine` },
      { path: "gone", why: "it is not on this machine" },
    ]);
    expect(readdirSync(join(worktree, "lib"))).toEqual([]);
  });

  test("are none where a name leads out of where git keeps them", async ({ repo }) => {
    addSubmodule(repo, library(repo, "lib"), "lib");
    repo.commit({ ".gitmodules": '[submodule "../../escape"]\n\tpath = lib\n\turl = x\n' });
    repo.git("clone", "--quiet", "--bare", "../upstream/lib", "escape");
    const worktree = repo.linkedWorktree("topic");
    expect(await init(repo, worktree)).toEqual({ ready: [], missing: [] });
  });

  test("leave a sparse checkout as it is", async ({ repo }) => {
    addSubmodule(repo, library(repo, "lib"), "out/lib");
    repo.commit({ "in/a.txt": "1\n" });
    repo.git("sparse-checkout", "set", "--cone", "in");
    const worktree = repo.linkedWorktree("topic");
    expect(await init(repo, worktree)).toEqual({ ready: [], missing: [] });
  });
});

describe("a worktree with submodules", () => {
  test("is removed when nothing in them would be lost", async ({ repo }) => {
    addSubmodule(repo, library(repo, "lib"), "lib");
    const worktree = repo.linkedWorktree("topic");
    await init(repo, worktree);

    expect(await remove(repo, worktree)).toMatchObject({ kind: "removed" });

    expect(existsSync(worktree)).toBe(false);
    expect(await worktrees((await openRepository(repo.path, { env: repo.env() })).git)).toHaveLength(1);
    expect(repo.read("lib/lib.txt")).toBe("1\n");
  });

  test("is removed when they come from one with its git directory inside", async ({ repo }) => {
    repo.git("clone", "--quiet", library(repo, "lib"), "embedded");
    repo.git("submodule", "--quiet", "add", "../upstream/lib", "embedded");
    repo.commit({});
    const worktree = repo.linkedWorktree("topic");
    expect(await init(repo, worktree)).toMatchObject({ ready: ["embedded"] });
    expect(await remove(repo, worktree)).toMatchObject({ kind: "removed" });
  });

  for (const [what, spoil] of [
    ["commit", (repo: TestRepo, lib: string) => repo.gitIn(lib, "branch", "mine", commitIn(repo, lib))],
    ["stash", (repo: TestRepo, lib: string) => repo.gitIn(lib, "stash", "store", commitIn(repo, lib))],
  ] as const) {
    test(`stays when a ${what} is in one of them alone`, async ({ repo }) => {
      addSubmodule(repo, library(repo, "lib"), "libs/one");
      const worktree = repo.linkedWorktree("topic");
      await init(repo, worktree);
      spoil(repo, join(worktree, "libs/one"));

      const removed = await remove(repo, worktree);

      expect(removed).toMatchObject({ reason: { kind: "left-over" } });
      expect(removed).toMatchObject({ reason: { output: expect.stringContaining("nowhere else: libs/one") } });
      expect(existsSync(join(worktree, "libs/one/lib.txt"))).toBe(true);
    });
  }

  test("stays when files that git ignores in one of them may not be deleted, and names them", async ({ repo }) => {
    const lib = library(repo, "lib");
    repo.commit({ ".gitignore": "out/\n" }, lib);
    addSubmodule(repo, lib, "lib");
    const worktree = repo.linkedWorktree("topic");
    await init(repo, worktree);
    repo.write({ "lib/out/x": "1\n" }, worktree);

    expect(await remove(repo, worktree)).toMatchObject({ reason: { kind: "ignored-files", paths: ["lib/out/"] } });
    expect(await remove(repo, worktree, true)).toMatchObject({ kind: "removed", deletedIgnored: ["lib/out/"] });
  });
});

/** A commit that nothing refers to. */
function commitIn(repo: TestRepo, cwd: string): string {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@b"];
  return repo.gitIn(cwd, ...identity, "commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}");
}
