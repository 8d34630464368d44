import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestRepo } from "../support/repo.ts";
import { type SandboxedRun, sandboxedRun, untouchable } from "../support/sandboxed-run.ts";

let repo: TestRepo;
let run: SandboxedRun;
let before: Record<string, string>;

/** A checkout in the middle of work, with something of everything that a command could damage. */
beforeAll(async () => {
  repo = new TestRepo();
  repo.makeDirty();
  repo.topic("topic", { "topic.txt": "topic\n" });
  repo.git("tag", "v1");
  repo.git("remote", "add", "origin", repo.path);
  repo.write({ "unstaged.txt": "stashed\n" });
  repo.git("stash", "--quiet");
  repo.write({ "unstaged.txt": "unstaged\n", "untracked.txt": "mine\n" });
  repo.linkedWorktree("other");
  repo.git("branch", "ultrathink/second", "topic");
  run = await sandboxedRun(repo);
  await run.bash("true"); // makes what has to be there
  before = untouchable(repo);
});

afterAll(() => repo.remove());

/** What the system and git say of a place that is read-only. */
const READ_ONLY =
  /Read-only file system|Device or resource busy|[Uu]nable to write new index|unable to create directory|Cannot save the current status/;

describe("a command of the agent cannot", () => {
  test.each([
    ["write by an absolute path", 'echo x > "$MAIN/new"'],
    ["write by a path through ..", "echo x > ../../repo/new"],
    ["write through a symbolic link", 'ln -s "$MAIN" ../link; echo x > ../link/new; code=$?; rm ../link; exit $code'],
    ["write after cd", 'cd "$MAIN" && echo x > README.md'],
    ["remove a file", 'rm -f "$MAIN/untracked.txt"'],
    ["rename a file", 'mv "$MAIN/untracked.txt" "$MAIN/renamed.txt"'],
    ["write into another worktree", "echo x > ../../worktrees/other/README.md"],
    ["commit in the checkout", 'git -C "$MAIN" commit --quiet --all --message=x'],
    ["stage in the checkout", 'git -C "$MAIN" add --all'],
    ["stage there by GIT_DIR", 'GIT_DIR="$MAIN/.git" GIT_WORK_TREE="$MAIN" git add --all'],
    ["switch the checkout", 'git -C "$MAIN" checkout --quiet --force topic'],
    ["reset the checkout", 'git -C "$MAIN" reset --hard'],
    ["clean the checkout", 'git -C "$MAIN" clean --force'],
    ["remove the checkout's index", 'rm -f "$MAIN/.git/index"'],
    ["move the checkout's HEAD", 'git -C "$MAIN" symbolic-ref HEAD refs/heads/topic'],
    ["initialise again, which could mark it bare", 'GIT_DIR="$MAIN/.git" git init'],
    ["move another branch", "git branch --force topic HEAD"],
    ["move the original branch", "git update-ref refs/heads/main HEAD~1"],
    ["delete a branch", "git branch -D topic"],
    ["create a branch", "git branch new"],
    ["switch to a new branch", "git switch --create new"],
    ["move the branch of another run", "git update-ref refs/heads/ultrathink/second HEAD"],
    ["delete the branch of another run", "git update-ref -d refs/heads/ultrathink/second"],
    ["push to the repository", "git push --quiet origin +HEAD:refs/heads/topic"],
    ["fetch into remote-tracking branches", "git fetch --quiet origin +refs/heads/topic:refs/remotes/origin/topic"],
    ["create a tag", "git tag v2"],
    ["delete a tag", "git tag --delete v1"],
    ["drop a stash entry", "git stash drop"],
    ["stash", "echo s > README.md; git stash; code=$?; git restore README.md; exit $code"],
    ["set a configuration value", "git config user.name x"],
    ["redirect hooks", "git config core.hooksPath /tmp"],
    ["write a hook", 'echo "exit 1" > "$MAIN/.git/hooks/pre-commit"'],
    ["write attributes", 'echo "* filter=x" > "$MAIN/.git/info/attributes"'],
    ["write excludes", 'echo "*" > "$MAIN/.git/info/exclude"'],
    ["pack references", "git pack-refs --all"],
    ["collect garbage", "git gc --quiet"],
    ["expire reflogs", "git reflog expire --expire=now --all"],
    ["replace an object", "git replace HEAD HEAD~1"],
    ["add a worktree", "git worktree add ../new topic"],
    ["remove another worktree", "git worktree remove --force ../../worktrees/other"],
    ["unlock its own worktree", 'git worktree unlock "$WORKTREE"'],
    ["make read-only places writable again", 'mount -o remount,rw,bind "$MAIN" || touch "$MAIN/x"'],
  ])("%s", async (_what, command) => {
    const { exit, stdout, stderr } = await run.bash(command);
    expect(exit).toMatchObject({ kind: "exited" });
    expect(exit).not.toMatchObject({ code: 0 });
    expect(stdout + stderr).toMatch(READ_ONLY);
    expect(untouchable(repo)).toEqual(before);
  });

  test.each([
    ["of a merge", 'git -C "$MAIN" merge --no-commit --no-ff --strategy=ours topic'],
    ["of a series of patches", 'git format-patch -1 --stdout topic | git -C "$MAIN" am'],
    ["of a bisection", 'git -C "$MAIN" bisect start'],
    ["of a shallow fetch", 'git fetch --quiet --depth=1 "file://$MAIN" main'],
    ["of a lock", 'touch "$MAIN/.git/index.lock" "$MAIN/.git/HEAD.lock" "$MAIN/.git/config.lock"'],
    ["of housekeeping", "git -c gc.auto=1 -c gc.autoDetach=false gc --auto"],
  ])("leave the state %s in the checkout, whatever git says", async (_what, command) => {
    await run.bash(command);
    expect(untouchable(repo)).toEqual(before);
  });

  test("go back by cd -", async () => {
    expect(await run.bash("cd -")).toMatchObject({ exit: { code: 1 }, stderr: /OLDPWD not set/ });
  });

  test("take a branch along that it has switched to", async () => {
    const { stderr } = await run.bash(
      "git checkout --quiet topic && echo t > t && git add t && git commit --quiet --message=t; git rm --quiet --force t; git checkout --quiet ultrathink/run",
    );
    expect(stderr).toMatch(/cannot lock ref 'HEAD'.*topic\.lock': Read-only file system/);
    expect(untouchable(repo)).toEqual(before);
  });

  test("outlive itself: neither in the background, nor in a session of its own", async () => {
    const late = join(run.worktree, "late");
    const script = `(sleep 1; touch late) & setsid sh -c 'sleep 1; touch late' & nohup sh -c 'sleep 1; touch late' >/dev/null 2>&1 & echo started`;
    expect(await run.bash(script)).toMatchObject({ exit: { code: 0 }, stdout: "started\n" });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(existsSync(late)).toBe(false);
  });
});

describe("a command of the agent still", () => {
  test.each([
    ["commits", "echo 1 > a && git add a && git commit --quiet --message=1", ["1"]],
    ["amends", "echo 2 > a && git commit --quiet --all --amend --message=2", ["2"]],
    ["resets and picks", "git reset --quiet --hard HEAD~1 && git cherry-pick ORIG_HEAD", ["2"]],
    [
      "merges",
      'git checkout --quiet --detach HEAD~1 && echo b > b && git add b && git commit --quiet --message=b && git checkout --quiet - && git merge --quiet --message=m "@{-1}"',
      ["2", "b", "m"],
    ],
    ["rebases", "git reset --quiet --hard HEAD^1 && git rebase --quiet '@{-1}'", ["2", "b"]],
    [
      "aborts a merge that conflicts",
      'git checkout --quiet --detach main && echo x > a && git add a && git commit --quiet --message=x && git checkout --quiet - && ! git merge --quiet "@{-1}" && git merge --abort',
      ["2"],
    ],
    ["reverts", "git revert --no-edit HEAD", ['Revert "2"', "2"]],
  ])("%s on its branch", async (_what, command, subjects) => {
    const result = await run.bash(command);
    expect(result).toMatchObject({ exit: { kind: "exited", code: 0 } });
    const log = repo.git("log", "--format=%s", "main..ultrathink/run").split("\n");
    expect(log).toEqual(expect.arrayContaining(subjects));
    expect(repo.gitIn(run.worktree, "status", "--porcelain=v2", "--branch")).toMatch(
      /^# branch.head ultrathink\/run$/m,
    );
    for (const left of ["CHERRY_PICK_HEAD", "MERGE_HEAD", "rebase-merge"]) {
      expect(existsSync(repo.gitIn(run.worktree, "rev-parse", "--git-path", left))).toBe(false);
    }
    expect(untouchable(repo)).toEqual(before);
  });

  test("writes in the worktree, in temporary folders and at home", async () => {
    const script =
      'mkdir -p node_modules/.bin && ln -s ../x node_modules/.bin/x && t=$(mktemp -d) && touch "$t/x" && rm -r "$t" && touch "$HOME/.cache" && echo done';
    expect(await run.bash(script)).toMatchObject({ exit: { code: 0 }, stdout: "done\n", stderr: "" });
    await run.bash('rm -r node_modules "$HOME/.cache"');
  });

  test("reads the checkout, compares with it, and shows every branch", async () => {
    const script =
      'cat "$MAIN/untracked.txt" && git diff --stat topic && git log --oneline --all | wc -l && git status --short';
    expect(await run.bash(script)).toMatchObject({ exit: { code: 0 }, stdout: expect.stringMatching(/^mine\n/) });
  });
});
