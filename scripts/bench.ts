import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toWorktreePath } from "../src/git/names.ts";
import { openRepository } from "../src/git/repository.ts";
import { fingerprint } from "../src/isolation/fingerprint.ts";

/**
 * `npm run bench`: what the look at the user's checkout after each iteration costs, against one `git status` of
 * the same checkout, interleaved in one run. Ratios of medians; the machine's own speed cancels out.
 */
const ROUNDS = 15;
const FILES = [1_000, 20_000];

const base = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-bench-")));
const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], HOME: base, GIT_CONFIG_GLOBAL: "/dev/null" };
try {
  for (const files of FILES) {
    const path = join(base, `files-${files}`);
    build(path, files);
    const repository = await openRepository(path, { env });
    const times: { status: number[]; fingerprint: number[] } = { status: [], fingerprint: [] };
    for (let round = 0; round < ROUNDS; round++) {
      times.status.push(await took(() => repository.git(["status", "--porcelain=v2", "-z", "--untracked-files=all"])));
      times.fingerprint.push(await took(() => fingerprint(repository, toWorktreePath(path))));
    }
    const [status, print] = [median(times.status), median(times.fingerprint)];
    console.log(
      `${files} files: git status ${status.toFixed(1)} ms, fingerprint ${print.toFixed(1)} ms, ratio ${(print / status).toFixed(2)}`,
    );
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** A checkout in which a few files are edited, staged and untracked. */
function build(path: string, files: number): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", path, "-c", "user.name=b", "-c", "user.email=b@b", ...args], { env });
  mkdirSync(path, { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  for (let i = 0; i < files; i++) {
    const folder = join(path, `src/${Math.floor(i / 100)}`);
    if (i % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${i}.ts`), `export const value = ${i};\n`);
  }
  git("add", "--all");
  git("commit", "--quiet", "--message=files");
  for (let i = 0; i < 5; i++) writeFileSync(join(path, `src/0/file-${i}.ts`), "edited\n");
  writeFileSync(join(path, "untracked.ts"), "new\n");
  git("add", "src/0/file-0.ts");
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
