import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished } from "vitest";
import { toBranchName, toWorktreePath } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { readRecords } from "../../src/journal/journal.ts";
import { recoverLanding } from "../../src/landing/recover.ts";
import type { Pending, Policy, State } from "../../src/landing/state.ts";
import { processesIn } from "../../src/process/processes-in.ts";
import type { LandingChild } from "../support/landing-child.ts";
import { type TestRepo, test } from "../support/repo.ts";

const CHILD = fileURLToPath(new URL("../support/landing-child.ts", import.meta.url));
const STEPS = ["planning", "building", "checking", "advancing", "syncing", "cleaning"] as const;
const MOVED: readonly Pending["step"][] = ["advancing", "syncing", "cleaning"];

function startChild(repo: TestRepo, child: Omit<LandingChild, "repository" | "journal">) {
  const journal = join(repo.base, "landing.jsonl");
  const argument = JSON.stringify({ repository: repo.path, journal, ...child } satisfies LandingChild);
  const process_ = spawn(process.execPath, ["--import", "tsx", CHILD, argument], { env: repo.env(), stdio: "pipe" });
  const errors: Buffer[] = [];
  process_.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const exit = new Promise<string>((resolve) => {
    process_.on("close", (code, signal) => resolve(signal ?? `${code}: ${Buffer.concat(errors)}`));
  });
  const pid = process_.pid ?? 0;
  onTestFinished(() => killAll(repo, pid));
  return { journal, exit, pid };
}

async function recover(repo: TestRepo, journal: string) {
  const records = await readRecords(journal);
  const last = records.at(-1)?.record as State;
  const repository = await openRepository(repo.path, { env: repo.env() });
  return recoverLanding({ repository }, last, async () => undefined);
}

/** Two commits on topic in a worktree of their own, main one commit further, and a dirty checkout of main. */
function prepare(repo: TestRepo) {
  repo.makeDirty();
  const worktree = repo.linkedWorktree("topic", "main~1");
  repo.commit({ "a.txt": "a\n", "README.md": "hello topic\n" }, worktree);
  const source = repo.commit({ "dir/b.txt": "b\n" }, worktree);
  repo.git("worktree", "lock", "--reason=test", worktree);
  return { worktree, source };
}

function requestFor(worktree: string, policy: Policy, check = "test -e dir/b.txt") {
  const branches = { source: toBranchName("topic"), target: toBranchName("main") };
  return {
    id: "test",
    ...branches,
    policy,
    retire: toWorktreePath(worktree),
    check: { command: check, timeoutMs: 60_000 },
  };
}

function dirtyFiles(repo: TestRepo) {
  const names = ["staged.txt", "unstaged.txt", "both.txt", "untracked.txt", "key.secret"];
  return {
    bytes: names.map((name) => repo.read(name)),
    index: repo.git("ls-files", "--stage", "staged.txt", "unstaged.txt", "both.txt"),
    status: repo.git("status", "--porcelain=v1", "--ignored"),
  };
}

function locksIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".lock"));
}

function expectSound(repo: TestRepo, source: string): void {
  expect(locksIn(join(repo.path, ".git"))).toEqual([]);
  expect(repo.git("fsck", "--no-dangling", "--no-progress", "--connectivity-only")).toBe("");
  expect(repo.git("for-each-ref", "--contains", source)).not.toBe("");
  expect(repo.git("worktree", "list", "--porcelain")).not.toContain("bench");
}

describe("SIGKILL at an effect boundary", () => {
  for (const step of STEPS) {
    for (const moment of ["before", "after"] as const) {
      for (const policy of ["merge", "rebase"] as const) {
        test(`${moment} ${step} of a ${policy} is finished or undone at the next start`, async ({ repo }) => {
          const { worktree, source } = prepare(repo);
          if (policy === "rebase") repo.hook("pre-rebase", "exit 0"); // built by git, in the run's worktree
          const old = repo.tip("main");
          const before = dirtyFiles(repo);
          const child = startChild(repo, { request: requestFor(worktree, policy), die: { step, moment } });
          expect(await child.exit).toBe("SIGKILL");

          const end = await recover(repo, child.journal);

          const landed = MOVED.includes(step);
          expect(end.step).toBe(landed ? "landed" : "stopped");
          expect(repo.tip("main") === old).toBe(!landed);
          expect(dirtyFiles(repo)).toEqual(before);
          expect(existsSync(join(repo.path, "dir/b.txt"))).toBe(landed);
          expect(existsSync(worktree)).toBe(!landed);
          if (!landed) expect(repo.gitIn(worktree, "symbolic-ref", "HEAD")).toBe("refs/heads/topic");
          expectSound(repo, source);
        });
      }
    }
  }
});

describe("SIGKILL while a sync that failed is put back", () => {
  for (const moment of ["before", "after"] as const) {
    test(`${moment} its effect is put back at the next start`, async ({ repo }) => {
      const { worktree, source } = prepare(repo);
      repo.write({ ".git/info/attributes": "b.txt filter=broken\n" });
      repo.git("config", "filter.broken.smudge", "false");
      repo.git("config", "filter.broken.required", "true");
      const before = { ...repo.snapshot(), main: repo.tip("main") };
      const { check: _, ...request } = requestFor(worktree, "merge");
      const child = startChild(repo, { request, die: { step: "restoring", moment } });
      expect(await child.exit).toBe("SIGKILL");

      const end = await recover(repo, child.journal);

      expect(end).toMatchObject({ step: "stopped", reason: { kind: "sync-failed" } });
      expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
      expectSound(repo, source);
    });
  }
});

/** The landing's own process and every git that works in the repository. */
async function killAll(repo: TestRepo, pid: number): Promise<void> {
  killIfThere(pid);
  for (let round = 0; round < 2; round++) {
    for (const name of ["git", "sh", "sleep"]) {
      for (const running of (await processesIn(repo.base, name)) ?? []) killIfThere(running);
    }
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe("SIGKILL of every process in the middle of a sync of 400 large files", () => {
  const big = (letter: string) => `${letter.repeat(79)}\n`.repeat(2_500);
  const names = Array.from({ length: 400 }, (_, i) => `big/${i}.txt`).sort();
  const at = (index: number) => names[index] ?? "";

  for (const [name, reached, edits] of [
    ["at its beginning", 0, false],
    ["half-way", 200, false],
    ["half-way, with edits made afterwards", 200, true],
    ["near its end", 395, false],
  ] as const) {
    test(`${name} heals`, async ({ repo }) => {
      repo.commit(Object.fromEntries(names.map((file) => [file, big("a")])));
      repo.makeDirty();
      const worktree = repo.linkedWorktree("topic", "main");
      const source = repo.commit(Object.fromEntries(names.map((file) => [file, big("b")])), worktree);
      const before = dirtyFiles(repo);
      const child = startChild(repo, { request: requestFor(worktree, "merge", "true") });
      await until(() => firstByte(join(repo.path, at(reached))) === "b");
      await killAll(repo, child.pid);
      await child.exit;
      const written = names.filter((file) => firstByte(join(repo.path, file)) === "b").length;
      const mine = { [at(0)]: "my own words\n", [at(399)]: `${big("a")}one more line\n` };
      if (edits) repo.write(mine);

      const end = await recover(repo, child.journal);

      expect(written).toBeGreaterThan(0);
      expect(end.step).toBe("landed");
      for (const file of names) expect(repo.read(file)).toBe(edits ? (mine[file] ?? big("b")) : big("b"));
      if (edits) repo.git("checkout", "--", ...Object.keys(mine));
      expect(dirtyFiles(repo)).toEqual(before);
      expectSound(repo, source);
    });
  }
});

describe("SIGKILL of every process while git builds", () => {
  for (const [name, policy, hook, temporary] of [
    ["a merge in the run's worktree", "merge", "pre-merge-commit", false],
    ["a rebase in the run's worktree", "rebase", "pre-rebase", false],
    ["a merge in a temporary worktree", "merge", "commit-msg", true],
  ] as const) {
    test(`${name} leaves everything as it was`, async ({ repo }) => {
      const { worktree, source } = prepare(repo);
      const flag = join(repo.base, "flag");
      repo.hook(hook, `touch '${flag}'; sleep 30`);
      const before = { ...repo.snapshot(), main: repo.tip("main") };
      const request = requestFor(worktree, policy);
      const child = startChild(repo, { request: temporary ? { ...request, retire: undefined } : request });
      await until(() => existsSync(flag));
      await killAll(repo, child.pid);
      await child.exit;

      const end = await recover(repo, child.journal);

      expect(end.step).toBe("stopped");
      expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
      expect(repo.gitIn(worktree, "symbolic-ref", "HEAD")).toBe("refs/heads/topic");
      expect(repo.gitIn(worktree, "status", "--porcelain")).toBe("");
      expectSound(repo, source);
    });
  }

  test("a temporary worktree's checkout leaves nothing of it", async ({ repo }) => {
    repo.commit(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`slow/${i}.bin`, `${i}\n`])));
    const { worktree, source } = prepare(repo);
    repo.write({ ".git/info/attributes": "*.bin filter=slow\n" });
    repo.git("config", "filter.slow.smudge", "sleep 0.05; cat");
    repo.git("config", "filter.slow.clean", "cat");
    repo.hook("commit-msg", "exit 0");
    const child = startChild(repo, { request: { ...requestFor(worktree, "merge"), retire: undefined } });
    await until(() => existsSync(join(repo.path, ".git/ultrathink/bench-test/slow/30.bin")));
    await killAll(repo, child.pid);
    await child.exit;

    const end = await recover(repo, child.journal);

    expect(end.step).toBe("stopped");
    expect(existsSync(join(repo.path, ".git/ultrathink/bench-test"))).toBe(false);
    expectSound(repo, source);
  });
});

/** Empty while git has the file deleted, to write it anew. */
function firstByte(path: string): string {
  if (!existsSync(path)) return "";
  const buffer = Buffer.alloc(1);
  const file = openSync(path, "r");
  try {
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, 1, 0));
  } finally {
    closeSync(file);
  }
}

async function until(condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("the condition did not come about");
    await sleep(1);
  }
}
