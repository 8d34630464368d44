import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { processesIn } from "../../src/process/processes-in.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import type { Progress } from "../../src/run/progress.ts";
import { discardRun } from "../../src/run/run-actions.ts";
import { equippedRun, setup } from "../support/equipped-run.ts";
import { type TestRepo, test } from "../support/repo.ts";

const CHILD = fileURLToPath(new URL("../support/run-child.ts", import.meta.url));

/** Ends the first process above it that is no git: the one under test. */
const KILL_NODE = `p=$PPID; while test "$(cat /proc/$p/comm)" = git; do p=$(awk '{print $4}' /proc/$p/stat); done; kill -9 $p`;

function runInChild(repo: TestRepo, setup: string): NodeJS.Signals | null {
  const args = ["--import", "tsx", CHILD, repo.path, "[]", "", setup];
  return spawnSync(process.execPath, args, { env: repo.env(), stdio: "ignore" }).signal;
}

/** The git of a dead process may go on for a moment. */
async function lockFilesGone(repo: TestRepo): Promise<void> {
  while (((await processesIn(repo.base, "git")) ?? []).length > 0) await sleep(50);
}

describe("a kept run", () => {
  const known = async (repo: TestRepo) => {
    const { runs } = await knownRuns(await openRepository(repo.path, { env: repo.env() }));
    return runs[0] ?? expect.fail("there is no run");
  };

  test("whose worktree is made anew gets all that it needs again", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\n" });
    repo.write({ "a.env": "1\n" });
    const wishes = { include: ["*.env"], ...setup("echo 2 > README.md") };
    await equippedRun(repo, ["echo 1 > one.txt", "exit 70"], wishes);
    rmSync(`${repo.path}.worktrees/scripted-run`, { recursive: true });

    const resume = await known(repo);
    const { result, told } = await equippedRun(repo, ["cat a.env README.md > two.txt"], wishes, { resume });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("two.txt")).toBe("1\n2\n");
    expect(repo.read("README.md")).toBe("hello\n");
    expect(told.map(({ type }) => type)).toContain("equipped");
  });

  test("whose process died while it was being made ready is made ready anew", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\nhalf\n" });
    repo.write({ "a.env": "1\n" });
    expect(runInChild(repo, "echo 1 > half; kill -9 $PPID")).toBe("SIGKILL");
    const worktree = `${repo.path}.worktrees/scripted-run`;
    expect(existsSync(join(worktree, "half"))).toBe(true);

    const resume = await known(repo);
    expect(resume).toMatchObject({ status: "interrupted", iterations: 0 });
    const wishes = { include: ["*.env"], ...setup("test ! -e half && cp a.env ready.env") };
    const { result, sent } = await equippedRun(repo, ["cp ready.env out.txt"], wishes, { resume });

    expect(sent[0]).toBe("Do the scripted work");
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("1\n");
  });

  for (const [when, spoil] of [
    ["while git was checking out", (repo: TestRepo) => repo.git("config", "filter.deadly.smudge", KILL_NODE)],
    ["right after git had checked out", (repo: TestRepo) => repo.hook("post-checkout", KILL_NODE)],
    ["before git had begun", (repo: TestRepo) => repo.hook("reference-transaction", `${KILL_NODE}; exit 1`)],
  ] as const) {
    test(`whose process died ${when} is begun anew`, async ({ repo }) => {
      repo.commit({ ".gitattributes": "m.txt filter=deadly\n", "a.txt": "1\n", "m.txt": "1\n", "z.txt": "1\n" });
      repo.git("config", "filter.deadly.required", "true");
      repo.git("config", "filter.deadly.clean", "cat");
      repo.git("config", "filter.deadly.smudge", "cat");
      spoil(repo);
      expect(runInChild(repo, "")).toBe("SIGKILL");
      repo.git("config", "filter.deadly.smudge", "cat");
      for (const hook of ["post-checkout", "reference-transaction"])
        rmSync(join(repo.path, ".git/hooks", hook), { force: true });
      await lockFilesGone(repo);

      const { result, sent } = await equippedRun(
        repo,
        ["cat a.txt m.txt z.txt > out.txt"],
        {},
        { resume: await known(repo) },
      );

      expect(sent[0]).toBe("Do the scripted work");
      expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
      expect(repo.git("show", "--format=", "--name-only", "main")).toBe("out.txt");
      expect(repo.read("out.txt")).toBe("1\n1\n1\n");
    });
  }

  test("stays one when its set-up fails, and can be resumed once that is mended", async ({ repo }) => {
    await equippedRun(repo, ["echo 1 > one.txt", "exit 70"], {});
    const worktree = `${repo.path}.worktrees/scripted-run`;
    rmSync(worktree, { recursive: true });

    const refused = await equippedRun(repo, [], setup("echo no network >&2; exit 1"), { resume: await known(repo) });

    expect(refused.words).toMatch(/no network[\s\S]*Branch ultrathink\/scripted-run is kept/);
    expect(existsSync(worktree)).toBe(false);
    expect(await known(repo)).toMatchObject({ status: "preserved", stop: { kind: "git-error" } });
    const { result } = await equippedRun(repo, ["echo 2 > two.txt"], setup("true"), { resume: await known(repo) });
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect([repo.read("one.txt"), repo.read("two.txt")]).toEqual(["1\n", "2\n"]);
  });

  test("is kept as well when the user steps in while its worktree is made anew", async ({ repo }) => {
    await equippedRun(repo, ["echo 1 > one.txt", "exit 70"], {});
    rmSync(`${repo.path}.worktrees/scripted-run`, { recursive: true });
    const stop = new AbortController();
    const progress = ({ type }: Progress) => {
      if (type === "setup-output") stop.abort({ kind: "cancelled-by-interrupt" });
    };
    const resume = await known(repo);
    const { result } = await equippedRun(repo, [], setup("echo go; sleep 600"), {
      resume,
      signal: stop.signal,
      progress,
    });
    expect(result).toEqual({ kind: "cancelled", tookBack: true });
    expect(await known(repo)).toMatchObject({ status: "preserved", stop: { kind: "cancelled-by-interrupt" } });
  });

  test("that is thrown away keeps no copy of an ignored file in its last commit", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\n" });
    repo.write({ "a.env": "SECRET=1\n" });
    await equippedRun(repo, [": > .gitignore; echo 1 > work.txt; exit 70"], { include: ["*.env"] });
    const repository = await openRepository(repo.path, { env: repo.env() });

    const discarded = await discardRun(repository, await known(repo));

    if (discarded.kind !== "discarded") expect.fail(discarded.refusal.kind);
    expect(repo.git("ls-tree", "--name-only", discarded.uncommitted ?? "").split("\n")).toEqual([
      ".gitignore",
      "README.md",
      "work.txt",
    ]);
  });
});
