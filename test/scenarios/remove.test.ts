import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Built } from "./scenario.ts";
import { blocked, callTool, describeScenarios, type Expected, git } from "./tool-scenarios.ts";

const EXPECTED: Readonly<Record<string, Expected>> = {
  "r01-assume-unchanged-edit": { ...blocked("hidden-edit", "assume-unchanged"), paths: ["keep.txt"] },
  "r02-skip-worktree-edit": { ...blocked("hidden-edit", "skip-worktree"), paths: ["keep.txt"] },
  "r04-merge-in-progress-clean": blocked("operation", "A merge is in progress"),
  "r05-nested-repo-in-ignored-dir": { ...blocked("nested-repository"), paths: ["vendor/inner"] },
  "r06-nested-worktree-in-ignored-dir": { ...blocked("nested-repository"), paths: ["trees/b"] },
  "r08-per-worktree-ref": {
    ...blocked("unreachable-ref", "refs/worktree/wip"),
    also: (built) => {
      const wip = readFileSync(join(built.base, "wip.oid"), "utf8").trim();
      expect(git({ ...built, cwd: join(built.base, "wt") }, "rev-parse", "refs/worktree/wip")).toBe(wip);
    },
  },
  "r09-locked": blocked("locked", "on a USB disk"),
  "r10-undeletable-file": {
    ...blocked("left-over", "could not be deleted. It is still a worktree", "wt/zz/f"),
    also: wholeAndRemovableLater,
  },
  "r12-missing-directory": blocked("missing", "its directory is missing", "git worktree remove"),
  "r13-replaced-by-other-repo": blocked("other-repository", "belongs to another repository"),
  "r14-ignored-residue": { ...blocked("ignored-files"), paths: ["node_modules/"] },
};

async function wholeAndRemovableLater(built: Built): Promise<void> {
  const worktreePath = join(built.base, "wt");
  expect(git(built, "worktree", "list", "--porcelain")).toContain(`worktree ${worktreePath}`);
  expect(git({ ...built, cwd: worktreePath }, "status", "--porcelain")).toBe("");
  spawnSync("chattr", ["-i", join(worktreePath, "zz/f")]);

  const again = await callTool(built, "remove_worktree", { worktreePath });

  expect(again.details).toMatchObject({ outcome: "removed" });
  expect(existsSync(worktreePath)).toBe(false);
  expect(git(built, "worktree", "list", "--porcelain")).not.toContain(worktreePath);
}

describeScenarios({
  prefix: "r",
  tool: "remove_worktree",
  expected: EXPECTED,
  successes: ["removed"],
  missing: (name) =>
    name === "r10-undeletable-file" && process.getuid?.() !== 0 ? "making a file immutable needs root" : undefined,
});
