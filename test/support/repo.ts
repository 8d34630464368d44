import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test as base } from "vitest";
import { type Oid, toOid } from "../../src/git/names.ts";

/** A throwaway repository driven by plain git, so that set-up cannot share a bug with the code under test. */
export class TestRepo {
  /** Everything the test makes lives below, the repository's linked worktrees included. */
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-")));
  readonly path: string;
  #commits = 0;

  /** @param name of the repository's folder. */
  constructor(name = "repo") {
    this.path = join(this.base, name);
    mkdirSync(this.path);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.name", "A U Thor");
    this.git("config", "user.email", "author@example.com");
    this.git("config", "gc.auto", "0");
    this.commit({ "README.md": "hello\n" });
  }

  write(files: Readonly<Record<string, string>>, cwd = this.path): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
  }

  read(path: string, cwd = this.path): string {
    return readFileSync(join(cwd, path), "utf8");
  }

  /** Writes `files`, commits everything on the current branch, and returns the new tip. */
  commit(files: Readonly<Record<string, string>>, cwd = this.path): Oid {
    this.write(files, cwd);
    this.gitIn(cwd, "add", "--all");
    this.gitIn(cwd, "commit", "--quiet", `--message=commit ${++this.#commits}`);
    return toOid(this.gitIn(cwd, "rev-parse", "--verify", "HEAD"));
  }

  /** Starts `branch` at main, commits each of `commits` there, and switches back. */
  topic(branch: string, ...commits: Readonly<Record<string, string>>[]): Oid {
    this.git("switch", "--quiet", "--create", branch, "main");
    for (const files of commits) this.commit(files);
    const tip = this.tip("HEAD");
    this.git("switch", "--quiet", "main");
    return tip;
  }

  /** Adds a linked worktree on the new `branch` and returns its path. */
  linkedWorktree(branch: string, ...args: string[]): string {
    const path = join(this.base, "worktrees", branch);
    this.git("worktree", "add", "--quiet", "-b", branch, path, ...args);
    return path;
  }

  /** Staged, unstaged, untracked and ignored changes, all of which must survive whatever happens. */
  makeDirty(): void {
    this.write({ ".gitignore": "*.secret\n", "staged.txt": "1\n", "unstaged.txt": "1\n", "both.txt": "1\n" });
    this.commit({});
    this.write({ "staged.txt": "staged\n", "both.txt": "staged\n" });
    this.git("add", "staged.txt", "both.txt");
    this.write({ "unstaged.txt": "unstaged\n", "both.txt": "unstaged\n", "untracked.txt": "mine\n" });
    this.write({ "key.secret": "ignored\n" });
  }

  /** HEAD, index entries and bits, status, stash, and the bytes of every file outside `.git`. */
  snapshot(): Record<string, string> {
    const state: Record<string, string> = {
      HEAD: this.git("symbolic-ref", "HEAD"),
      index: this.git("ls-files", "--stage", "-v"),
      status: this.git("status", "--porcelain=v2", "--ignored", "--untracked-files=all"),
      stash: this.git("stash", "list"),
    };
    for (const file of filesBelow(this.path)) state[`file ${file}`] = fingerprint(join(this.path, file));
    return state;
  }

  tip(revision: string): Oid {
    return toOid(this.git("rev-parse", "--verify", revision));
  }

  git(...args: string[]): string {
    return this.gitIn(this.path, ...args);
  }

  gitIn(cwd: string, ...args: string[]): string {
    return execFileSync("git", args, { cwd, env: this.env(), encoding: "utf8", stdio: "pipe" }).trimEnd();
  }

  /** A command line, as a person would type it in the checkout. */
  shell(command: string): void {
    execFileSync("sh", ["-c", command], { cwd: this.path, env: this.env(), stdio: "pipe" });
  }

  hook(name: string, script: string): void {
    const file = join(this.path, ".git", "hooks", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  remove(): void {
    if (process.env["KEEP_TEST_REPOS"]) console.error(`kept ${this.base}`);
    else rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Hermetic and deterministic: no user config, no prompts, one second per commit. */
  env(): NodeJS.ProcessEnv {
    const date = `${1_700_000_000 + this.#commits} +0000`;
    return {
      PATH: process.env["PATH"],
      HOME: this.base,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    };
  }
}

function filesBelow(folder: string, prefix = ""): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = join(prefix, entry.name);
    if (path === ".git") return [];
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

function fingerprint(path: string): string {
  const stats = lstatSync(path);
  const content = stats.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
  return `${stats.mode.toString(8)} ${createHash("sha256").update(content).digest("hex")}`;
}

export const test = base.extend<{ repo: TestRepo }>({
  repo: async ({}, use) => {
    const repo = new TestRepo();
    await use(repo);
    repo.remove();
  },
});
