import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestRepo } from "./repo.ts";

/** Same numbers for the same seed (mulberry32), so that a failing history can be built again. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const FOLDERS = ["", "lib/", "lib/deep/", "docs/"];
const LINES = 24;

/**
 * Two branches, `main` and `topic`, that have edited, added, deleted, renamed, moved and retyped the files of a
 * common base; now and then they have merged each other's beginnings before.
 */
export function buildRandomHistory(repo: TestRepo, seed: number): void {
  const random = randomNumbers(seed);
  const files = Array.from({ length: 8 }, (_, i) => `${FOLDERS[random(FOLDERS.length)]}file-${i}.txt`);
  const lines = (name: string) => Array.from({ length: LINES }, (_, i) => `${name} line ${i}\n`).join("");
  repo.commit(Object.fromEntries(files.map((name) => [name, lines(name)])));
  repo.git("branch", "topic");
  const crissCross = random(4) === 0;
  for (const branch of ["main", "topic"]) {
    repo.git("switch", "--quiet", branch);
    commitChanges(repo, random, files, branch);
    repo.git("tag", `first-${branch}`);
  }
  if (crissCross) {
    for (const [branch, other] of [
      ["main", "topic"],
      ["topic", "main"],
    ] as const) {
      repo.git("switch", "--quiet", branch);
      try {
        repo.git("merge", "--quiet", "--no-edit", `first-${other}`);
      } catch {
        repo.git("merge", "--abort"); // they conflict: the histories stay apart
      }
    }
  }
  for (const branch of ["main", "topic"]) {
    repo.git("switch", "--quiet", branch);
    for (let i = random(3); i >= 0; i--) commitChanges(repo, random, files, branch);
  }
  repo.git("switch", "--quiet", "main");
}

function commitChanges(
  repo: TestRepo,
  random: (below: number) => number,
  files: readonly string[],
  branch: string,
): void {
  for (let i = 1 + random(3); i > 0; i--) change(repo, random, files, branch);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--allow-empty", "--message", `change on ${branch}`);
}

function change(repo: TestRepo, random: (below: number) => number, files: readonly string[], branch: string): void {
  const name = files[random(files.length)] ?? "";
  const path = join(repo.path, name);
  const kind = random(12);
  if (!existsSync(path) || kind === 0) {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, `${name} anew on ${branch} ${random(3)}\n`);
  } else if (kind <= 6) {
    const text = repo.read(name).split("\n");
    text[random(Math.max(1, text.length - 1))] = `edited on ${branch} ${random(2)}`;
    writeFileSync(path, text.join("\n"));
  } else if (kind === 7) rmSync(path);
  else if (kind === 8) {
    const moved = join(repo.path, `${FOLDERS[random(FOLDERS.length)]}moved-${random(4)}.txt`);
    mkdirSync(dirname(moved), { recursive: true });
    if (!existsSync(moved)) renameSync(path, moved);
  } else if (kind === 9) chmodSync(path, 0o755);
  else if (kind === 10) {
    rmSync(path);
    symlinkSync("README.md", path);
  } else writeFileSync(join(repo.path, `new-${branch}-${random(3)}.txt`), `new on ${branch} ${random(2)}\n`);
}
