import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { type KnownRun, knownRuns } from "../../src/run/known-runs.ts";
import { recoverRuns } from "../../src/run/recover-runs.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

test("a run that fills the disk is found again, nothing of it or of the user's lost, and goes on", async ({ repo }) => {
  expect(process.getuid?.(), "mounting a small file system needs root").toBe(0);
  const disk = join(repo.base, "disk");
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]);
  try {
    await fillsTheDisk(join(disk, "repo"), repo);
  } finally {
    execFileSync("umount", ["--lazy", disk]);
  }
});

async function fillsTheDisk(path: string, repo: TestRepo): Promise<void> {
  repo.git("clone", "--quiet", repo.path, path);
  const git = (...args: string[]) => repo.gitIn(path, "-c", "user.name=u", "-c", "user.email=u@u", ...args);
  git("config", "user.name", "u");
  git("config", "user.email", "u@u");
  repo.write({ "README.md": "half done\n" }, path);
  const run = (passes: readonly string[], more = {}) => scriptedRun({ cwd: path, env: repo.env(), passes, ...more });

  const full = run(["echo 1 > a.txt", "head -c 50000000 /dev/zero > big.bin; echo 2 > b.txt"]);
  const end = await full.then(
    ({ result }) => result.kind,
    (error: unknown) => String(error),
  );

  expect(end).toMatch(/finished|ENOSPC|[Nn]o space/);
  expect(readFileSync(join(path, "README.md"), "utf8")).toBe("half done\n");
  expect(git("log", "--format=%s", "main")).toBe("commit 1");
  expect(git("show", "ultrathink/scripted-run:a.txt")).toBe("1");
  expect(existsSync(join(path, ".git/index.lock"))).toBe(false);

  rmSync(`${path}.worktrees/scripted-run/big.bin`);
  const repository = await openRepository(path, { env: repo.env() });
  await recoverRuns({ repository, env: repo.env() });
  const [known] = (await knownRuns(repository)).runs;
  expect(known?.status).toBe("preserved");

  const { result } = await run(["echo 2 > b.txt"], { resume: known as KnownRun });
  expect(result).toMatchObject({ kind: "finished", report: { ending: { kind: "landed" } } });
  expect(readFileSync(join(path, "README.md"), "utf8")).toBe("half done\n");
}
