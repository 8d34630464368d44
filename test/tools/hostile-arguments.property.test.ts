import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

/** What git reads as something else than a name: options, revisions, other references, patterns, control characters. */
const shard = fc.constantFrom(
  ..."- -- / . .. ~ ^ : @ { } @{-1} @{u} * ? [ \\ , ; $ ` ' \" # ! %".split(" "),
  ..."refs/heads/ refs/tags/ HEAD main feature tag topic .lock -f --force --orphan -b x é 名 \u0301 😀".split(" "),
  " ",
  "\t",
  "\n",
  "\0",
  "\u001b",
  "\u007f",
  "\u202e",
  "\ud800",
  "main~1",
  "0".repeat(40),
);
const hostile = fc.oneof(
  { weight: 5, arbitrary: fc.array(shard, { minLength: 1, maxLength: 4 }).map((shards) => shards.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 300 }) },
);

/** Refused with an error counts as refused. */
async function outcome(repo: TestRepo, tool: string, args: object): Promise<Record<string, unknown>> {
  try {
    return (await callTool(repo, tool, args)).details;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^Invalid arguments: /);
    return { outcome: "blocked" };
  }
}

function refs(repo: TestRepo): string[] {
  return repo.git("for-each-ref", "--format=%(refname) %(objectname)").split("\n");
}

function setUp(repo: TestRepo): void {
  repo.topic("feature", { "a.txt": "a\n" });
  repo.git("tag", "tag", "feature");
  repo.commit({ "b.txt": "b\n" });
}

const RUNS = { numRuns: 25 };

describe("whatever a model sends", () => {
  test("as the name of a new branch becomes exactly that branch, or nothing", async ({ repo }) => {
    setUp(repo);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(hostile, async (branchName) => {
        const before = refs(repo);
        const worktreePath = join(repo.base, "made", `${++count}`);
        const details = await outcome(repo, "create_worktree", { worktreePath, branchName, branchMode: "new" });
        if (details["outcome"] === "created") {
          expect(refs(repo).filter((line) => !before.includes(line))).toEqual([
            `refs/heads/${branchName} ${repo.tip("HEAD")}`,
          ]);
          expect(repo.gitIn(worktreePath, "symbolic-ref", "HEAD")).toBe(`refs/heads/${branchName}`);
        } else {
          expect(refs(repo)).toEqual(before);
          expect(existsSync(worktreePath)).toBe(false);
        }
      }),
      RUNS,
    );
  });

  test("as the start of a new branch is a commit, or nothing", async ({ repo }) => {
    setUp(repo);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(hostile, async (baseRef) => {
        const before = refs(repo);
        const branchName = `made/${++count}`;
        const args = { worktreePath: join(repo.base, branchName), branchName, branchMode: "new", baseRef };
        const details = await outcome(repo, "create_worktree", args);
        const added = refs(repo).filter((line) => !before.includes(line));
        expect(added).toHaveLength(details["outcome"] === "created" ? 1 : 0);
        if (details["outcome"] === "created") expect(added[0]).toMatch(new RegExp(`^refs/heads/${branchName} `));
      }),
      RUNS,
    );
  });

  test("as the path of a worktree becomes exactly that directory, or nothing", async ({ repo }) => {
    setUp(repo);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const branchName = `made/${++count}`;
        const before = everything(repo);
        const details = await outcome(repo, "create_worktree", {
          worktreePath: `../${text}`,
          branchName,
          branchMode: "new",
        });
        if (details["outcome"] !== "created") {
          expect(everything(repo)).toEqual(before);
          return;
        }
        const { cwd } = details["handoff"] as { cwd: string };
        expect(cwd).toBe(join(repo.path, "..", text).replace(/\/$/, ""));
        expect(readdirSync(cwd)).toContain("README.md");
        const { outcome: removed } = await outcome(repo, "remove_worktree", { worktreePath: cwd });
        expect(removed).toBe("removed");
      }),
      RUNS,
    );
  });

  test("as branches to integrate moves no reference that it does not name", async ({ repo }) => {
    setUp(repo);
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.boolean(), async (sourceBranch, targetBranch, preview) => {
        const before = refs(repo);
        const branches = before.map((line) => line.split(" ")[0]);
        const both = [sourceBranch, targetBranch].every((name) => branches.includes(`refs/heads/${name}`));
        const details = await outcome(repo, "integrate_branch", { sourceBranch, targetBranch, preview });
        if (both && sourceBranch !== targetBranch) return;
        expect(details["outcome"]).toBe("blocked");
        expect(refs(repo)).toEqual(before);
      }),
      RUNS,
    );
  });

  test("as a worktree to remove or to commit in is that one, or none", async ({ repo }) => {
    setUp(repo);
    repo.linkedWorktree("topic");
    repo.write({ "mine.txt": "mine\n" });
    const before = everything(repo);
    const path = fc.oneof(
      hostile,
      hostile.map((text) => join(repo.base, "worktrees/topic", text)),
      hostile.map((text) => repo.path + text),
    );
    await fc.assert(
      fc.asyncProperty(path, async (worktreePath) => {
        if (worktreePath === join(repo.base, "worktrees/topic")) return;
        const removed = await outcome(repo, "remove_worktree", { worktreePath, deleteIgnored: true });
        const committed = await outcome(repo, "commit_iteration", { worktreePath, subject: "x" });
        expect([removed["outcome"], committed["outcome"]]).toEqual(["blocked", "blocked"]);
      }),
      RUNS,
    );
    expect(everything(repo)).toEqual(before);
  });
});
