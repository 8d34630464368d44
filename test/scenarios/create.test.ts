import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Built } from "./scenario.ts";
import { blocked, callTool, describeScenarios, type Expected, git } from "./tool-scenarios.ts";

interface Handoff {
  readonly cwd: string;
  readonly branch: string;
  readonly head: string;
}

const handoffOf = (details: Record<string, unknown>) => details["handoff"] as Handoff;

/** A worktree that git sees as the answer says, its branch without an upstream. */
const standing = (says: Expected["says"] = [], also?: Expected["also"]): Expected => ({
  outcome: "created",
  says,
  async also(built, details) {
    const { cwd, branch, head } = handoffOf(details);
    const inIt = (...args: string[]) => git({ ...built, cwd }, ...args);
    expect(inIt("rev-parse", "--show-toplevel")).toBe(cwd);
    expect(inIt("symbolic-ref", "HEAD")).toBe(`refs/heads/${branch}`);
    expect(inIt("rev-parse", "HEAD")).toBe(head);
    expect(git(built, "config", "--get-regexp", `^branch\\.${branch}\\.`)).toBe("");
    await also?.(built, details);
  },
});

const created = (says: Expected["says"] = [], also?: Expected["also"]) =>
  standing(says, async (built, details) => {
    expect(git({ ...built, cwd: handoffOf(details).cwd }, "status", "--porcelain")).toBe("");
    await also?.(built, details);
  });

/** Nothing of it stays: no directory, no registration, no branch, no folder that was made for it. */
const refused = (expected: Expected, also?: Expected["also"]): Expected => ({
  ...expected,
  async also(built, details) {
    const { worktreePath, branchName } = built.args as { worktreePath: string; branchName: string };
    const stale = existsSync(join(built.base, "repo/.git/worktrees/wt/gitdir"));
    if (expected.reason !== "path-registered") expect(stale).toBe(false);
    expect(existsSync(worktreePath)).toBe(false);
    expect(git(built, "for-each-ref", `refs/heads/${branchName}`)).toBe("");
    await also?.(built, details);
  },
});

const EXPECTED: Readonly<Record<string, Expected>> = {
  "c01-post-checkout-fails": refused(blocked("git-failed", "deps not installed", "taken back")),
  "c03-post-checkout-switches": refused(blocked("changed-by-hook", "refs/heads/sneaky", "post-checkout hook")),
  "c04-smudge-required-fails": refused(blocked("filter-failed", "filter big", "no server", "taken back")),
  "c05-eol-dirty-after-touch": standing([], neverDirty),
  "c07-inside-repository": created(
    [/It is inside \S+\/repo, in a directory that git ignores there/],
    refusedOnceNotIgnored,
  ),
  "c08-parent-missing": created([], ({ base }) => expect(readdirSync(join(base, "no/such"))).toEqual(["wt"])),
  "c09-dangling-symlink": blocked("path-exists", "/wt exists already"),
  "c11-path-registered-but-missing": refused(
    blocked("path-registered", "/wt is registered as a worktree, and its directory is missing", "git worktree remove"),
    (built) => expect(git(built, "worktree", "list", "--porcelain")).toContain(`worktree ${built.base}/wt`),
  ),
  "c12-unborn": refused(blocked("no-commit", "no commit yet")),
  "c13-corrupt-sibling-head": created([/Damaged, and left alone: worktree \S+\/sib, whose HEAD git cannot read/]),
  "c15-many-worktrees": created([], (built) => {
    expect(git(built, "worktree", "list", "--porcelain").length).toBeGreaterThan(128 * 1024);
  }),
  "c16-path-tokenlike": created([], ({ base }, details) => {
    expect(handoffOf(details).cwd).toBe(join(base, "token=prod"));
  }),
  "c17-previous-branch-syntax": refused(blocked("invalid-branch-name", "@{")),
  "c19-disk-full": refused(blocked("disk-full", "No space left", /needs 3000000 bytes, \d+ are free/, "taken back")),
  "c20-other-file-system": created(),
  "c21-post-checkout-hangs": refused(blocked("git-failed", "took longer than 3 s", "taken back")),
  "c23-bare-main": created(),
  "c24-autosetupmerge-always": created([], (built, details) => {
    expect(handoffOf(details).head).toBe(git(built, "rev-parse", "feature"));
  }),
  "c25-sparse-source": created(["sparse"], (built, details) => {
    expect(details["sparse"]).toBe(true);
    expect(readdirSync(handoffOf(details).cwd)).not.toContain("out");
    expect(git({ ...built, cwd: handoffOf(details).cwd }, "config", "core.sparseCheckout")).toBe("true");
  }),
};

/** The file differs from what git would store as soon as it is touched; nobody has changed it. */
async function neverDirty(built: Built, details: Record<string, unknown>): Promise<void> {
  const { cwd, head } = handoffOf(details);
  const touch = () => {
    const file = join(cwd, "w.txt");
    utimesSync(file, 1_600_000_000, 1_600_000_000);
    expect(git({ ...built, cwd }, "status", "--porcelain")).toContain("M w.txt");
  };
  touch();
  const commit = (subject: string) => callTool(built, "commit_iteration", { worktreePath: cwd, subject });
  expect((await commit("Nothing")).details).toMatchObject({ outcome: "unchanged", head });

  writeFileSync(join(cwd, "work.txt"), "1\n");
  touch();
  expect((await commit("Work")).details).toMatchObject({ outcome: "committed", changes: { paths: ["work.txt"] } });
  expect(git({ ...built, cwd }, "show", "--format=", "--name-only")).toBe("work.txt");

  touch();
  expect((await callTool(built, "remove_worktree", { worktreePath: cwd })).details).toMatchObject({
    outcome: "removed",
  });
}

async function refusedOnceNotIgnored(built: Built): Promise<void> {
  rmSync(join(built.base, "repo/.git/info/exclude"));
  const worktreePath = join(built.base, "repo/.worktrees/second");
  const second = await callTool(built, "create_worktree", { worktreePath, branchName: "second", branchMode: "new" });
  expect(second.details).toMatchObject({ outcome: "blocked", reason: "inside-worktree" });
  expect(existsSync(worktreePath)).toBe(false);
}

describeScenarios({
  prefix: "c",
  tool: "create_worktree",
  expected: EXPECTED,
  successes: ["created"],
  timeoutMs: (name) => (name === "c21-post-checkout-hangs" ? 3_000 : undefined),
  missing: (name) =>
    /^c(19|20)-/.test(name) && process.getuid?.() !== 0 ? "mounting a small file system needs root" : undefined,
});
