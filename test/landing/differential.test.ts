import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { toBranchName } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { integrate } from "../../src/landing/integrate.ts";
import { buildRandomHistory } from "../support/random-history.ts";
import { TestRepo, test } from "../support/repo.ts";

type Merge = { readonly kind: "merged"; readonly tree: string } | { readonly kind: "conflict" };

/** What the user's own `git merge` makes of it, in a worktree of its own. */
function gitMerge(repo: TestRepo): Merge {
  const worktree = join(repo.base, "reference");
  repo.git("worktree", "add", "--quiet", "--detach", worktree, "main");
  const options = { cwd: worktree, env: repo.env(), encoding: "utf8" } as const;
  const merge = spawnSync("git", ["merge", "--quiet", "--no-edit", "topic"], options);
  if (merge.status !== 0) return { kind: "conflict" };
  return { kind: "merged", tree: repo.gitIn(worktree, "rev-parse", "HEAD^{tree}") };
}

async function ours(repo: TestRepo): Promise<Merge> {
  const repository = await openRepository(repo.path, { env: repo.env() });
  const branches = { source: toBranchName("topic"), target: toBranchName("main") };
  const end = await integrate({ repository, env: repo.env() }, branches);
  if (end.step === "stopped") {
    expect(end.reason.kind).toBe("conflicted");
    return { kind: "conflict" };
  }
  expect(repo.git("status", "--porcelain")).toBe("");
  return { kind: "merged", tree: repo.tip("main^{tree}") };
}

const HISTORIES = 60;
const GROUPS = 6;

for (let group = 0; group < GROUPS; group++) {
  test(`integrating gives what git merge gives, histories ${group * 10} to ${group * 10 + 9}`, async () => {
    const kinds = { merged: 0, conflict: 0 };
    for (let seed = group * 10; seed < Math.min(HISTORIES, group * 10 + 10); seed++) {
      const repo = new TestRepo();
      try {
        buildRandomHistory(repo, seed);
        const reference = gitMerge(repo);
        const before = { ...repo.snapshot(), main: repo.tip("main") };
        const result = await ours(repo);
        expect(result, `seed ${seed}`).toEqual(reference);
        if (result.kind === "conflict") expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
        kinds[result.kind]++;
      } finally {
        repo.remove();
      }
    }
    expect(kinds.merged).toBeGreaterThan(0);
    expect(kinds.conflict).toBeGreaterThan(0);
  });
}
