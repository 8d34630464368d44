import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { test } from "../support/repo.ts";
import { callTool, everything } from "./calls.ts";

describe("while another process changes the repository", () => {
  const calls = {
    create_worktree: () => ({ worktreePath: "../wt", branchName: "new", branchMode: "new" }),
    commit_iteration: (worktreePath: string) => ({ subject: "x", worktreePath }),
    integrate_branch: () => ({ sourceBranch: "topic", targetBranch: "main" }),
    remove_worktree: (worktreePath: string) => ({ worktreePath, deleteIgnored: true }),
  } as const;

  test("what changes it waits, and what only reads does not", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    repo.commit({ "a.txt": "a\n" }, worktree);
    mkdirSync(join(repo.path, ".git/ultrathink"));
    const owner = { host: "elsewhere.invalid", pid: 1, start: "1" }; // alive for all that can be known
    writeFileSync(join(repo.path, ".git/ultrathink/lock"), JSON.stringify(owner));
    const before = everything(repo);

    for (const [name, args] of Object.entries(calls)) {
      const signal = AbortSignal.timeout(400); // well after the call has begun to wait
      const { details } = await callTool(repo, name, args(worktree), { signal });
      expect({ name, ...details }).toMatchObject({ name, outcome: "blocked", reason: "aborted" });
    }

    expect(everything(repo)).toEqual(before);
    const listed = await callTool(repo, "list_worktrees");
    expect(listed.details["outcome"]).toBe("listed");
    const preview = await callTool(repo, "integrate_branch", { ...calls.integrate_branch(), preview: true });
    expect(preview.details["outcome"]).toBe("fast_forward");
  });
});
