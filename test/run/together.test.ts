import { join } from "node:path";
import { describe, expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import { preflight } from "../../src/run/preflight.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { type ScriptedRun, scriptedRun } from "../support/scripted-run.ts";

function run(repo: TestRepo, passes: readonly string[], more: Partial<ScriptedRun> = {}) {
  return scriptedRun({ cwd: repo.path, env: repo.env(), passes, ...more });
}

describe("several runs in one repository", () => {
  test("that are given the same name at the same moment take different ones", async ({ repo }) => {
    const slugs = ["same-name", "same-name-again", "same-name-once-more"];
    const ends = await Promise.all(["a", "b", "c"].map((file) => run(repo, [`echo 1 > ${file}.txt`], { slugs })));

    const names = ends.map(({ result }) => (result.kind === "finished" ? result.report.run.slug : result.kind));
    expect(new Set(names).size).toBe(3);
    for (const { result } of ends) expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    for (const file of ["a", "b", "c"]) expect(repo.read(`${file}.txt`)).toBe("1\n");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("that finish together land one after the other, each checked on the tip that it lands on", async ({ repo }) => {
    const log = join(repo.base, "checked");
    const check = { command: `git rev-parse HEAD >> '${log}'`, timeoutMs: 60_000 };
    const ends = await Promise.all(
      ["a", "b"].map((name) => run(repo, [`echo 1 > ${name}.txt`], { slugs: [`run-${name}`], options: { check } })),
    );

    for (const { result } of ends) expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    const checked = repo.read("checked", repo.base).trim().split("\n");
    expect(checked).toContain(repo.tip("main"));
    expect(checked).toContain(repo.tip("main^"));
  });

  test("started in a linked worktree lands on its branch, and the main checkout is not touched", async ({ repo }) => {
    const feature = repo.linkedWorktree("feature");
    repo.write({ "README.md": "half done\n" }, feature);
    const before = repo.snapshot();

    const { result } = await run(repo, ["echo 1 > a.txt"], { cwd: feature });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, run: { original: "feature" } } });
    expect(repo.read("a.txt", feature)).toBe("1\n");
    expect(repo.gitIn(feature, "status", "--porcelain")).toBe(" M README.md");
    expect(repo.snapshot()).toEqual(before);
  });

  test("are refused in the worktree of another run", async ({ repo }) => {
    await run(repo, ["echo 1 > a.txt", "exit 70"]);
    const worktree = `${repo.path}.worktrees/scripted-run`;

    const looked = await preflight(worktree, { env: repo.env() });

    expect(looked).toMatchObject({ kind: "refused", message: expect.stringContaining("is the worktree of run") });
    expect((await knownRuns(await openRepository(repo.path, { env: repo.env() }))).runs).toHaveLength(1);
  });
});
