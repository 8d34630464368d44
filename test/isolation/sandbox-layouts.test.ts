import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { test } from "../support/repo.ts";
import { type SandboxedRun, sandboxedRun, untouchable } from "../support/sandboxed-run.ts";

const COMMIT = "echo 1 > a && git add a && git commit --quiet --message=1 && git log -1 --format=%s";
const READ_ONLY = expect.stringMatching(/Read-only file system|Device or resource busy/);

async function expectConfined(run: SandboxedRun, ...places: string[]): Promise<void> {
  expect(await run.bash(COMMIT)).toMatchObject({ exit: { code: 0 }, stdout: "1\n" });
  for (const place of places) {
    expect(await run.bash(`echo x >> '${place}'`)).toMatchObject({ exit: { code: 1 }, stderr: READ_ONLY });
  }
}

describe("a run is confined", () => {
  test("when the user's checkout is a linked worktree itself", async ({ repo }) => {
    const checkout = repo.linkedWorktree("topic");
    const run = await sandboxedRun(repo, { checkout });
    await expectConfined(run, join(checkout, "README.md"), join(repo.path, "README.md"), `${repo.path}/.git/HEAD`);
    expect((await run.bash(`git -C '${checkout}' commit --quiet --allow-empty --message=x`)).exit).not.toMatchObject({
      code: 0,
    });
  });

  test("when the repository is bare", async ({ repo }) => {
    const checkout = repo.linkedWorktree("topic");
    repo.git("config", "core.bare", "true");
    const run = await sandboxedRun(repo, { checkout });
    await expectConfined(run, join(checkout, "README.md"), `${repo.path}/.git/config`);
  });

  test("when the checkout is known by a symbolic link", async ({ repo }) => {
    const link = join(repo.base, "link");
    symlinkSync(repo.path, link);
    const run = await sandboxedRun(repo, { checkout: link });
    await expectConfined(run, join(link, "README.md"), join(repo.path, "README.md"));
  });

  test("when files of git are symbolic links", async ({ repo }) => {
    const hooks = join(repo.base, "hooks");
    mkdirSync(hooks);
    rmSync(join(repo.path, ".git/hooks"), { recursive: true });
    symlinkSync(hooks, join(repo.path, ".git/hooks"));
    await expectConfined(await sandboxedRun(repo), join(repo.path, ".git/hooks/pre-commit"), join(hooks, "pre-commit"));
  });

  test("from a worktree that was added while it goes on", async ({ repo }) => {
    const run = await sandboxedRun(repo);
    await expectConfined(run, join(repo.path, "README.md"));
    const later = repo.linkedWorktree("later");
    expect(await run.bash(`echo x > '${later}/README.md'`)).toMatchObject({ stderr: READ_ONLY });
  });
});

describe("what the user does meanwhile", () => {
  test("neither disturbs a command nor lets it out", async ({ repo }) => {
    repo.makeDirty();
    const run = await sandboxedRun(repo);
    const command = run.bash(
      'echo started > "$HOME/started"; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; git log -1 --format=%s main; echo 1 > a; git add a; git commit --quiet --message=1 || { sleep 0.1; exit 9; }; git config user.name x; echo x > "$MAIN/.git/index"; echo x > "$MAIN/.git/HEAD"',
    );
    await expect.poll(() => existsSync(join(repo.base, "started")), { timeout: 10_000 }).toBe(true);
    repo.git("commit", "--quiet", "--all", "--message=by the user");
    repo.git("pack-refs", "--no-all");
    repo.git("switch", "--quiet", "--create", "elsewhere");
    const before = untouchable(repo);
    repo.write({ go: "" }, repo.base);

    const { stdout, stderr } = await command;

    expect(stdout).toBe("by the user\n");
    expect(stderr).toMatch(/could not write config file/);
    expect(stderr).toMatch(/\.git\/index: Read-only file system[\s\S]*\.git\/HEAD: Read-only file system/);
    expect(untouchable(repo)).toEqual(before);
    expect(repo.git("log", "-1", "--format=%s", "ultrathink/run")).toBe("1");
  });

  test("as packing every reference, is seen by the next command", async ({ repo }) => {
    const run = await sandboxedRun(repo);
    await run.bash(COMMIT);
    repo.git("pack-refs", "--all", "--prune");
    repo.git("gc", "--quiet", "--prune=now");
    expect(await run.bash("echo 2 > a; git commit --quiet --all --message=2; git log --format=%s")).toMatchObject({
      exit: { code: 0 },
      stdout: "2\n1\ncommit 1\n",
      stderr: "",
    });
  });
});

describe("a command that destroys what it can reach", () => {
  test("leaves the checkout, its history and every branch", async ({ repo }) => {
    repo.makeDirty();
    repo.topic("topic", { "topic.txt": "topic\n" });
    const dangling = repo.git("commit-tree", "-m", "only known to the reflog", "HEAD^{tree}");
    const run = await sandboxedRun(repo);
    await run.bash("true");
    const before = untouchable(repo);

    await run.bash('rm -rf "$MAIN" "$MAIN/.git" "$MAIN"/.git/objects/*; git prune; git repack -adq');

    expect(untouchable(repo)).toEqual(before);
    expect(repo.git("log", "--format=%s", "topic").split("\n")).toHaveLength(3);
    expect(repo.git("cat-file", "-t", dangling)).toBe("commit");
    expect(repo.git("rev-list", "--objects", "--missing=print", "main", "topic")).not.toContain("?");
  });

  test("leaves a worktree to go on in", async ({ repo }) => {
    const run = await sandboxedRun(repo);
    expect(await run.bash('rm -rf "$WORKTREE"')).toMatchObject({ stderr: READ_ONLY });
    expect(await run.bash("git status --short && git restore . && cat README.md")).toMatchObject({
      exit: { code: 0 },
      stdout: " D README.md\nhello\n",
    });
    for (const command of ["remove --force --force", "move --force --force"]) {
      const moved = command.startsWith("move") ? "../moved" : "";
      const { exit } = await run.bash(`git worktree ${command} "$WORKTREE" ${moved}`);
      expect(exit).not.toMatchObject({ code: 0 });
      expect(repo.git("worktree", "list")).toContain("repo.worktrees/run ");
    }
  });
});
