import { existsSync } from "node:fs";
import { describe, expect } from "vitest";
import { processesIn } from "../../src/process/processes-in.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

function run(
  repo: TestRepo,
  passes: readonly string[],
  command: string,
  options: { max?: number; timeoutMs?: number } = {},
) {
  const { timeoutMs = 60_000, max = 4 } = options;
  return scriptedRun({ cwd: repo.path, env: repo.env(), passes, options: { max, check: { command, timeoutMs } } });
}

describe("the check of a run", () => {
  test("sees exactly what would be the target's tip, what others have landed meanwhile included", async ({ repo }) => {
    const passes = [
      "echo 1 > work.txt",
      `git -C '${repo.path}' commit --quiet --allow-empty -m other && echo 2 > '${repo.path}/other.txt' && git -C '${repo.path}' add other.txt && git -C '${repo.path}' commit --quiet -m other`,
    ];
    const command = "test -e work.txt && test -e other.txt && test $(git rev-parse HEAD) = $ULTRATHINK_CANDIDATE";

    const { result } = await run(repo, passes, command);

    expect(result).toMatchObject({
      kind: "finished",
      report: { ending: { kind: "landed", outcome: { kind: "rebase" } } },
    });
  });

  test("that fails goes back to the agent, and what the agent mends lands", async ({ repo }) => {
    const { result, sent } = await run(
      repo,
      ["echo 1 > work.txt", "", "echo ok > mended.txt"],
      "test -e mended.txt || { echo the mended file is missing; exit 3; }",
    );

    expect(sent[2]).toContain("the mended file is missing\n(exit code 3)");
    expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" }, iterations: 4 } });
    expect(repo.read("mended.txt")).toBe("ok\n");
  });

  test("that fails to the end preserves the run, nothing of the user's touched", async ({ repo }) => {
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };

    const { result } = await run(repo, ["echo 1 > work.txt"], "echo no >&2; false", { max: 2 });

    expect(result).toMatchObject({
      kind: "finished",
      report: { ending: { kind: "preserved", reason: { kind: "check-failed", output: "no\n(exit code 1)" } } },
    });
    expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
    const worktree = `${repo.path}.worktrees/scripted-run`;
    expect(repo.gitIn(worktree, "symbolic-ref", "HEAD")).toBe("refs/heads/ultrathink/scripted-run");
  });

  test("that hangs is ended with all that it started", async ({ repo }) => {
    const { result } = await run(repo, ["echo 1 > work.txt"], "sleep 600 & sleep 600", { max: 1, timeoutMs: 1_000 });

    expect(result).toMatchObject({ kind: "finished", report: { ending: { reason: { kind: "check-failed" } } } });
    expect(await processesIn(repo.base, "sleep")).toEqual([]);
    expect(existsSync(`${repo.path}/work.txt`)).toBe(false);
  });
});
