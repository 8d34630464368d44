import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { requests } from "../support/hosts.ts";
import { type PiRpc, startRpc } from "../support/pi-rpc.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { homeOf, traces, ultrathink } from "../support/ultrathink.ts";

/** A folder for PATH whose `git` the test may replace: a script, or `undefined` for none. */
class FakePath {
  readonly folder: string;
  readonly #real: string[];

  constructor(repo: TestRepo) {
    this.folder = join(repo.base, "bin");
    this.#real = (process.env["PATH"] ?? "").split(":").filter((folder) => !existsIn(folder, "git"));
    mkdirSync(this.folder);
    for (const tool of ["sh", "env"]) symlinkSync(which(tool), join(this.folder, tool));
    this.restore();
  }

  get value(): string {
    return [this.folder, ...this.#real].join(":");
  }

  git(script: string | undefined): void {
    rmSync(join(this.folder, "git"), { force: true });
    if (script === undefined) return;
    writeFileSync(join(this.folder, "git"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.folder, "git"), 0o755);
  }

  restore(): void {
    rmSync(join(this.folder, "git"), { force: true });
    symlinkSync(which("git"), join(this.folder, "git"));
  }
}

function existsIn(folder: string, name: string): boolean {
  try {
    return readFileSync(join(folder, name)).length > 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

function which(name: string): string {
  const folder = (process.env["PATH"] ?? "").split(":").find((each) => existsIn(each, name));
  if (folder === undefined) throw new Error(`${name} is not on PATH`);
  return join(folder, name);
}

async function answerTo(pi: PiRpc, message: string): Promise<string> {
  await pi.send({ type: "prompt", message });
  const notice = await pi.waitFor((record) => record["method"] === "notify", 10_000);
  return `${notice["message"]}`;
}

describe("a run that cannot start says why and what to do, and creates nothing", () => {
  test("whatever is the matter with the repository, git or the configuration", async ({ repo }) => {
    const home = homeOf(repo);
    const path = new FakePath(repo);
    const pi = startRpc({ home, cwd: repo.path, env: { PATH: path.value } });
    const untouched = () => expect({ ...repo.snapshot(), traces: traces(repo) }).toEqual(clean);
    const refused = async (expected: RegExp | string, command = "/ultrathink --yes Fix it") => {
      const answer = await answerTo(pi, command);
      if (typeof expected === "string") expect(answer).toContain(expected);
      else expect(answer).toMatch(expected);
    };
    let clean = { ...repo.snapshot(), traces: [] as string[] };
    try {
      await refused("/ultrathink [flags] <prompt>", "/ultrathink");
      await refused("/ultrathink [flags] <prompt>", "/ultrathink --help");
      await refused("ultrathink: unknown flag --nonsense.", "/ultrathink --nonsense Fix it");
      await refused("--base nowhere names no commit", "/ultrathink --base nowhere Fix it");
      untouched();

      path.git('echo "git version 2.37.1"');
      await refused("git 2.37 is too old: install git 2.38 or newer.");
      path.git(undefined);
      await refused("git was not found on PATH: install git 2.38 or newer.");
      path.restore();
      untouched();

      repo.git("branch", "ultrathink");
      await refused("branch ultrathink is in the way of ultrathink/…: rename it (git branch -m ultrathink other-name)");
      repo.git("branch", "-D", "ultrathink");
      writeFileSync(`${repo.path}.worktrees`, "a file\n");
      await refused(`${repo.path}.worktrees, where the run's worktree goes, is not a folder: move what is there`);
      rmSync(`${repo.path}.worktrees`);
      untouched();

      const config = join(home, ".pi/ultrathink.json");
      mkdirSync(dirname(config), { recursive: true });
      writeFileSync(config, '{"naming": oops');
      await refused(/ultrathink\.json is not valid JSON .* Correct or remove it and start again; nothing was changed/);
      expect(readFileSync(config, "utf8")).toBe('{"naming": oops');
      rmSync(config);
      untouched();

      repo.git("switch", "--quiet", "--detach");
      await refused("HEAD is detached, so there is no branch to land on: git switch a branch and start again.");
      repo.git("switch", "--quiet", "main");
      repo.git("config", "core.bare", "true");
      await refused("has no working tree (bare repository or git directory): start Pi in a checkout");
      repo.git("config", "core.bare", "false");
      untouched();

      repo.git("switch", "--quiet", "--orphan", "unborn");
      clean = { ...repo.snapshot(), traces: [] };
      await refused("branch unborn has no commit yet: make a first one (git commit --allow-empty -m start)");
      untouched();
      rmSync(join(repo.path, ".git"), { recursive: true });
      await refused("is not in a git repository: run git init and make a first commit, or start Pi inside one.");

      expect(requests(home)).toEqual([]);
      expect((await pi.quit()).code).toBe(0);
    } finally {
      await pi.stop();
    }
  });

  test("and print mode exits non-zero, with the sentence on standard error alone", async ({ repo }) => {
    repo.git("switch", "--quiet", "--detach");

    const { code, stdout, stderr, requests } = await ultrathink(repo, { passes: [] });

    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toBe(
      "ultrathink: HEAD is detached, so there is no branch to land on: git switch a branch and start again.\n",
    );
    expect(requests).toEqual([]);
    expect(traces(repo)).toEqual([]);
  });

  test("without a model", async ({ repo }) => {
    const args = ["--model", "openai/gpt-4o"]; // known to both hosts, and without a key
    const pi = startRpc({ home: homeOf(repo), cwd: repo.path, args });
    try {
      expect(await answerTo(pi, "/ultrathink Fix it")).toContain("no model is available: choose one with /model");
      expect(traces(repo)).toEqual([]);
    } finally {
      await pi.stop();
    }
  });
});
