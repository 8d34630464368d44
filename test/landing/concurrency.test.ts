import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";

const CHILD = fileURLToPath(new URL("../support/integrate-child.ts", import.meta.url));
const PROCESSES = 8;
const BRANCHES = 10;

interface Details {
  readonly outcome: string;
  readonly reason?: string;
}

function integrateAll(repo: TestRepo, branches: readonly string[]): Promise<Record<string, Details>> {
  const args = ["--import", "tsx", CHILD, repo.path, ...branches];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: repo.env(), stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(out).toString()) as Record<string, Details>);
      else reject(new Error(Buffer.concat(err).toString()));
    });
  });
}

/** What a user does meanwhile: edits a file of their own, and commits another. */
async function userAtWork(repo: TestRepo, done: () => boolean): Promise<number> {
  let commits = 0;
  while (!done()) {
    repo.write({ "mine.txt": `edit ${commits}\n`, "diary.txt": `entry ${commits}\n` });
    try {
      repo.git("commit", "--quiet", "--message=diary", "--only", "diary.txt");
      commits++;
    } catch (error) {
      // The index or the branch was locked by a landing at that moment, as by any other git.
      expect(String(error)).toMatch(/\.lock'|cannot lock ref|is at [0-9a-f]+ but expected/);
    }
    await sleep(150);
  }
  return commits;
}

test(`${PROCESSES} processes land ${BRANCHES} branches each while the user goes on working`, {
  timeout: 180_000,
}, async ({ repo }) => {
  repo.commit({ "mine.txt": "mine\n", "diary.txt": "diary\n", "shared.txt": "line\n" });
  const names = Array.from({ length: PROCESSES * BRANCHES }, (_, i) => `topic-${i}`);
  const tips = new Map(
    names.map((name, i) => {
      // Every fifth branch changes the same line, so that only one of them can land.
      const files = i % 5 === 0 ? { "shared.txt": `${name}\n` } : { [`${name}.txt`]: `${name}\n` };
      return [name, repo.topic(name, files)];
    }),
  );
  let running = true;
  const user = userAtWork(repo, () => !running);
  const groups = Array.from({ length: PROCESSES }, (_, p) => names.filter((_, i) => i % PROCESSES === p));

  const results = await Promise.all(groups.map((group) => integrateAll(repo, group))).finally(() => {
    running = false;
  });
  const commits = await user;

  const outcomes = Object.assign({}, ...results) as Record<string, Details>;
  const landed = names.filter((name) => ["merge_commit", "fast_forward"].includes(outcomes[name]?.outcome ?? ""));
  for (const name of names) {
    const tip = tips.get(name) ?? "";
    expect(repo.tip(name)).toBe(tip);
    const onMain = repo.git("merge-base", "main", tip) === tip;
    expect(onMain, `${name}: ${JSON.stringify(outcomes[name])}`).toBe(landed.includes(name));
    if (!onMain) expect(["conflict", "blocked"]).toContain(outcomes[name]?.outcome);
  }
  const conflicting = names.filter((_, i) => i % 5 === 0);
  expect(landed.filter((name) => conflicting.includes(name)).length).toBeLessThanOrEqual(1);
  expect(commits).toBeGreaterThan(0);
  expect(repo.git("rev-list", "--count", "--grep=^diary$", "main")).toBe(`${commits}`);
  expect(
    repo
      .git("status", "--porcelain", "--untracked-files=no")
      .replace(/^.M (mine|diary)\.txt$/gm, "")
      .trim(),
  ).toBe("");
  for (const name of landed.filter((each) => !conflicting.includes(each)))
    expect(repo.read(`${name}.txt`)).toBe(`${name}\n`);
  expect(existsSync(join(repo.path, ".git/ultrathink/lock"))).toBe(false);
  expect(repo.git("fsck", "--no-dangling", "--no-progress", "--connectivity-only")).toBe("");
  console.log(`${landed.length} of ${names.length} branches landed, ${commits} commits of the user's in between`);
});
