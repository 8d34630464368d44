import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import { landRun } from "../../src/run/land-run.ts";
import { recorderFor } from "../../src/run/record.ts";
import { recoverRuns } from "../../src/run/recover-runs.ts";
import { discardRun, undoRun } from "../../src/run/run-actions.ts";
import { recoveryLines, runDetails, runsTable } from "../../src/ui/runs.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

const CHILD = fileURLToPath(new URL("../support/run-child.ts", import.meta.url));

/** Runs to its own death: somewhere in its passes or its check the shell kills the process that started it. */
function runInChild(repo: TestRepo, passes: readonly string[], check = ""): Promise<NodeJS.Signals | null> {
  const args = ["--import", "tsx", CHILD, repo.path, JSON.stringify(passes), check];
  const child = spawn(process.execPath, args, { env: repo.env(), stdio: "ignore" });
  return new Promise((resolve) => child.on("close", (_code, signal) => resolve(signal)));
}

const open = (repo: TestRepo) => openRepository(repo.path, { env: repo.env() });
const only = async (repo: TestRepo) => (await knownRuns(await open(repo))).runs[0] ?? expect.fail("there is no run");
const SUICIDE = "kill -9 $PPID";

describe("a run whose process was killed", () => {
  test("between two passes is found again, kept, and lands when it is told to", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();
    expect(await runInChild(repo, ["echo 1 > work.txt", SUICIDE])).toBe("SIGKILL");

    const repository = await open(repo);
    const recovery = await recoverRuns({ repository, env: repo.env() });
    const known = await only(repo);

    expect(recovery).toMatchObject({ landings: [], interrupted: [{ run: { slug: "scripted-run" } }] });
    expect(recoveryLines(recovery)[0]).toContain("scripted-run was interrupted and is kept");
    expect(known).toMatchObject({ status: "interrupted", iterations: 1, owner: "gone" });
    expect(runDetails(known)).toContain("/ultrathink-runs land scripted-run");
    expect(repo.snapshot()).toEqual(before);

    const { end } = await landRun(
      {
        repository,
        run: known.run,
        complete: fail,
        record: recorderFor(repository, known.run.id),
        progress: () => undefined,
      },
      { policy: "auto" },
    );
    expect(end.step).toBe("landed");
    expect(repo.read("work.txt")).toBe("1\n");
    expect(await only(repo)).toMatchObject({ status: "landed" });
  });

  test("while its check ran is put back, and told", async ({ repo }) => {
    const main = repo.tip("main");
    expect(await runInChild(repo, ["echo 1 > work.txt"], SUICIDE)).toBe("SIGKILL");

    const recovery = await recoverRuns({ repository: await open(repo), env: repo.env() });

    expect(recovery.landings).toMatchObject([{ end: { step: "stopped", reason: { kind: "aborted" } } }]);
    expect(recoveryLines(recovery)[0]).toContain("was taken back");
    expect(repo.tip("main")).toBe(main);
    expect(await only(repo)).toMatchObject({ status: "preserved" });
    expect((await recoverRuns({ repository: await open(repo), env: repo.env() })).landings).toEqual([]);
  });

  test("in its post-merge hook, with everything moved, is finished", async ({ repo }) => {
    const pid = join(repo.base, "pid");
    repo.hook("post-merge", `kill -9 "$(cat '${pid}')"; sleep 1`);
    expect(await runInChild(repo, [`echo 1 > work.txt; echo $PPID > '${pid}'`])).toBe("SIGKILL");
    repo.hook("post-merge", "exit 0");

    const recovery = await recoverRuns({ repository: await open(repo), env: repo.env() });

    expect(recovery.landings).toMatchObject([{ end: { step: "landed" } }]);
    expect(recoveryLines(recovery)[0]).toContain("was finished: main has its work");
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(repo.read("work.txt")).toBe("1\n");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });
});

describe("a run that goes on in a living process", () => {
  test("is not taken up by another", async ({ repo }) => {
    const states: string[] = [];
    const look = `sleep 0.2`;
    const running = scriptedRun({ cwd: repo.path, env: repo.env(), passes: ["echo 1 > work.txt", look] });
    const repository = await open(repo);
    for (let i = 0; i < 5; i++) {
      states.push(...(await knownRuns(repository)).runs.map(({ status }) => status));
      expect((await recoverRuns({ repository, env: repo.env() })).landings).toEqual([]);
    }
    await running;
    expect(new Set(states)).toEqual(new Set(states.length > 0 ? ["running"] : []));
    expect(await only(repo)).toMatchObject({ status: "landed" });
  });
});

describe("actions", () => {
  test("undo takes a landed run back, with the user's changes kept", async ({ repo }) => {
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    await scriptedRun({ cwd: repo.path, env: repo.env(), passes: ["echo 1 > work.txt"] });
    expect(repo.tip("main")).not.toBe(before.main);

    const end = await undoRun(await open(repo), await only(repo));

    expect(end).toEqual({ kind: "undone", to: before.main });
    expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
    const known = await only(repo);
    expect(known.status).toBe("undone");
    expect(await undoRun(await open(repo), known)).toMatchObject({ kind: "refused" });
  });

  test("discard takes branch and worktree away, and keeps what was in them within reach", async ({ repo }) => {
    await scriptedRun({
      cwd: repo.path,
      env: repo.env(),
      passes: ["echo 1 > work.txt", "echo half > half.txt; exit 70"],
    });

    const end = await discardRun(await open(repo), await only(repo));

    if (end.kind !== "discarded") throw new Error(JSON.stringify(end));
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
    expect(repo.git("branch", "--list", "ultrathink/*")).toBe("");
    expect(repo.git("show", `${end.tip}:work.txt`)).toBe("1");
    expect(repo.git("show", `${end.uncommitted}:half.txt`)).toBe("half");
    expect(repo.git("for-each-ref", "--contains", `${end.uncommitted}`)).toContain("refs/ultrathink/");
    expect(await only(repo)).toMatchObject({ status: "discarded" });
  });

  test("discard refuses while a repository of its own lies in the worktree", async ({ repo }) => {
    await scriptedRun({ cwd: repo.path, env: repo.env(), passes: ["git init -q inner; echo x > inner/x; exit 70"] });
    const end = await discardRun(await open(repo), await only(repo));
    expect(end).toMatchObject({ kind: "refused", refusal: { kind: "nested-repository", paths: ["inner/"] } });
    expect(existsSync(`${repo.path}.worktrees/scripted-run/inner/x`)).toBe(true);
  });
});

test("a journal that is torn, damaged or newer hides nothing else", async ({ repo }) => {
  await scriptedRun({ cwd: repo.path, env: repo.env(), passes: ["echo 1 > work.txt"], slugs: ["good-run"] });
  const folder = join(repo.path, ".git/ultrathink/runs");
  const [good = ""] = readdirSync(folder);
  appendFileSync(join(folder, good), '{"version":1,"at":1,"rec');
  writeFileSync(join(folder, "newer.jsonl"), '{"version":99,"at":1,"record":{"type":"started"}}\n');
  writeFileSync(join(folder, "damaged.jsonl"), '{"version":1,"at":1,"record":{"type":"nonsense"}}\n');

  const known = await knownRuns(await open(repo));

  expect(known.runs).toMatchObject([{ run: { slug: "good-run" }, status: "landed" }]);
  expect(known.unreadable.map(({ id }) => id).sort()).toEqual(["damaged", "newer"]);
  expect(runsTable(known)).toMatch(/good-run {2}landed .*\n(damaged|newer): its journal is left alone/);
});

async function fail(): Promise<string> {
  return "no";
}
