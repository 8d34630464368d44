import { rmSync } from "node:fs";
import { describe, expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { type ScriptedRun, scriptedRun } from "../support/scripted-run.ts";

function run(repo: TestRepo, passes: readonly string[], more: Partial<ScriptedRun> = {}) {
  return scriptedRun({ cwd: repo.path, env: repo.env(), passes, ...more });
}

async function only(repo: TestRepo) {
  const { runs } = await knownRuns(await openRepository(repo.path, { env: repo.env() }));
  return runs[0] ?? expect.fail("there is no run");
}

const CONFLICTING = [
  "echo run > a.txt",
  (repo: TestRepo) => `cd '${repo.path}' && echo other > a.txt && git add a.txt && git commit -qm concurrent`,
] as const;

async function conflict(repo: TestRepo) {
  const [first, second] = CONFLICTING;
  await run(repo, [first, second(repo)]);
  const known = await only(repo);
  expect(known).toMatchObject({ status: "preserved", landing: { step: "stopped", reason: { kind: "conflicted" } } });
  return known;
}

describe("resuming", () => {
  test("after a conflict has the agent merge and resolve, and then lands", async ({ repo }) => {
    const known = await conflict(repo);

    const { result, sent } = await run(
      repo,
      ["git merge main >/dev/null; printf 'other\\nrun\\n' > a.txt; git add a.txt; git commit -qm 'Merge main'"],
      { resume: known },
    );

    expect(sent[0]).toContain("git merge main");
    expect(sent[0]).toContain("- a.txt");
    expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" } } });
    expect(repo.read("a.txt")).toBe("other\nrun\n");
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(result).toMatchObject({
      report: { commits: [{ subject: "Scripted commit 1" }, { subject: "Merge main" }] },
    });
    expect(await only(repo)).toMatchObject({ status: "landed" });
  });

  test("asks the agent to end a merge that it has left in the middle", async ({ repo }) => {
    const known = await conflict(repo);

    const { result, sent } = await run(
      repo,
      ["git merge main", "echo both > a.txt; git add a.txt; git commit -qm 'Merge main'"],
      { resume: known },
    );

    expect(sent[1]).toContain("A merge is in progress");
    expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" } } });
    expect(repo.read("a.txt")).toBe("both\n");
  });

  test("goes on in the worktree with what was not committed yet", async ({ repo }) => {
    await run(repo, ["echo 1 > a.txt", "echo half > b.txt; exit 70"]);

    const { result, sent } = await run(repo, ["echo whole > b.txt"], { resume: await only(repo) });

    expect(sent[0]).toContain("Original task: Do the scripted work");
    expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" }, iterations: 3 } });
    expect(repo.read("b.txt")).toBe("whole\n");
    expect(repo.read("a.txt")).toBe("1\n");
  });

  test("makes the worktree again from the scratch branch when its directory vanished", async ({ repo }) => {
    await run(repo, ["echo 1 > a.txt", "exit 70"]);
    rmSync(`${repo.path}.worktrees/scripted-run`, { recursive: true });

    const { result } = await run(repo, ["echo 2 > b.txt"], { resume: await only(repo) });

    expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" } } });
    expect([repo.read("a.txt"), repo.read("b.txt")]).toEqual(["1\n", "2\n"]);
  });

  test("of a landed run is refused, and changes nothing", async ({ repo }) => {
    await run(repo, ["echo 1 > a.txt"]);
    const before = repo.git("for-each-ref");
    const { result, sent } = await run(repo, [], { resume: await only(repo) });
    expect(result).toMatchObject({ kind: "refused", message: expect.stringContaining("is landed") });
    expect(sent).toEqual([]);
    expect(repo.git("for-each-ref")).toBe(before);
  });
});
