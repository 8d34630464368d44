import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { KEEP_MS, prune } from "../../src/run/prune.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

const journals = (repo: TestRepo) => readdirSync(join(repo.path, ".git/ultrathink/runs"));

test("what has been over for 30 days is forgotten; kept runs stay, however old", async ({ repo }) => {
  const run = (slug: string, passes: readonly string[]) =>
    scriptedRun({ cwd: repo.path, env: repo.env(), passes, slugs: [slug] });
  await run("landed-run", ["echo 1 > a.txt"]);
  await run("kept-run", ["echo 1 > b.txt", "exit 70"]);
  const repository = await openRepository(repo.path, { env: repo.env() });
  expect(repo.git("for-each-ref", "refs/ultrathink")).not.toBe("");

  expect(await prune(repository, Date.now() + KEEP_MS - 60_000)).toEqual({ ids: [], refs: [] });
  const pruned = await prune(repository, Date.now() + KEEP_MS + 60_000);

  expect(pruned.ids).toHaveLength(1);
  expect(pruned.refs.map((ref) => ref.split("/").at(-1)).sort()).toEqual(["source", "target"]);
  expect(journals(repo)).toHaveLength(1);
  expect(repo.git("for-each-ref", "--format=%(refname)", "refs/ultrathink")).toMatch(/^refs\/ultrathink\/\w+\/tip$/);
  expect(repo.read("b.txt", `${repo.path}.worktrees/kept-run`)).toBe("1\n");
});
