import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { processesIn } from "../../src/process/processes-in.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import type { Progress } from "../../src/run/progress.ts";
import { discardRun } from "../../src/run/run-actions.ts";
import type { RunOptions } from "../../src/run/ultrathink.ts";
import { transcriptText } from "../../src/ui/progress.ts";
import { summary } from "../../src/ui/summary.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { type ScriptedRun, scriptedRun } from "../support/scripted-run.ts";
import { everything } from "../tools/calls.ts";

type Wishes = RunOptions["wishes"];

async function run(
  repo: TestRepo,
  passes: readonly string[],
  wishes: Partial<Wishes>,
  more: Partial<ScriptedRun> = {},
) {
  const told: Progress[] = [];
  const options = { ...more.options, wishes: { include: [], ...wishes } };
  const progress = (each: Progress) => told.push(each);
  const end = await scriptedRun({ cwd: repo.path, env: repo.env(), passes, progress, ...more, options });
  const { result } = end;
  const words = result.kind === "finished" ? summary(result.report) : result.kind === "refused" ? result.message : "";
  return { ...end, told, words };
}

const setup = (command: string, timeoutMs = 60_000) => ({ setup: { command, timeoutMs } });
const noteOf = (told: readonly Progress[]) =>
  told
    .map(transcriptText)
    .filter((text) => text !== undefined)
    .join("\n");

/** The repository, what is beside it, and the journals of runs. */
function surroundings(repo: TestRepo): unknown {
  const runs = join(repo.path, ".git/ultrathink/runs");
  return {
    ...(everything(repo) as object),
    beside: readdirSync(repo.base),
    runs: existsSync(runs) ? readdirSync(runs) : [],
  };
}

describe("ignored files that a run is given", () => {
  test("are there for the agent, in no commit, and named when they go", async ({ repo }) => {
    repo.commit({ ".gitignore": ".env\ndeps/\n", ".worktreeinclude": ".env\n" });
    repo.write({ ".env": "SECRET=1\n", "deps/a.js": "1\n", "deps/b.js": "2\n" });
    const before = repo.snapshot();

    const { result, words, told } = await run(repo, ["cat .env deps/a.js > out.txt"], { include: ["deps/"] });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("SECRET=1\n1\n");
    expect(repo.git("log", "--format=", "--name-only", "main")).not.toContain(".env");
    expect(words).toContain("ignored files of the worktree went with it: .env, deps/");
    expect(noteOf(told)).toContain("copied in 3 ignored files (13 B)");
    expect(told.filter(({ type }) => type === "copying").at(-1)).toMatchObject({ files: 3, bytes: 13 });
    expect({ ...repo.snapshot(), HEAD: "", index: "" }).toMatchObject({
      "file .env": before["file .env"],
      "file deps/a.js": before["file deps/a.js"],
    });
  });

  test("stay out of commits when the agent has them ignored no longer, or stages them", async ({ repo }) => {
    repo.commit({ ".gitignore": ".env\ndeps/\n" });
    repo.write({ ".env": "SECRET=1\n", "deps/a.js": "1\n", "deps/b.js": "2\n" });
    const passes = [
      "echo work > out.txt; : > .gitignore",
      "git add --force .env; echo more > more.txt; echo x >> .env",
    ];

    const { result, words } = await run(repo, passes, { include: [".env", "deps"] });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, iterations: 3 } });
    expect(repo.git("ls-tree", "-r", "--name-only", "main").split("\n")).toEqual([
      ".gitignore",
      "README.md",
      "more.txt",
      "out.txt",
    ]);
    expect(words).toContain("not committed, copied from your checkout and ignored there: .env, deps/");
    expect(words).toContain("went with it: .env, deps/");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
    expect(repo.read(".env")).toBe("SECRET=1\n");
  });

  test("do not count as work: nothing is landed for their sake", async ({ repo }) => {
    repo.commit({ ".gitignore": "deps/\n" });
    const base = repo.tip("main");
    repo.git("rm", "--quiet", ".gitignore");
    repo.commit({ "a.txt": "1\n" });
    repo.commit({ ".gitignore": "deps/\n" });
    repo.write({ "deps/a.js": "1\n" });
    const withoutRules = repo.tip("main^");
    const { result } = await run(repo, ["true"], { include: ["deps/"] }, { base: withoutRules });
    expect(base).not.toBe(withoutRules);
    expect(result).toMatchObject({ report: { ending: { kind: "nothing-to-land", ignored: ["deps/"] } } });
    expect(result).not.toMatchObject({ report: { ending: { kept: expect.anything() } } });
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });

  test("that cannot be read as a list are a reason not to start", async ({ repo }) => {
    mkdirSync(join(repo.path, ".worktreeinclude"));
    const before = surroundings(repo);
    const { result, words } = await run(repo, ["true"], {});
    expect(result.kind).toBe("refused");
    expect(words).toMatch(/\.worktreeinclude.*taken back/s);
    expect(surroundings(repo)).toEqual(before);
  });

  test.runIf(process.getuid?.() === 0)("do not fit on the disk: nothing of the run stays", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.bin\n" });
    repo.write(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index}.bin`, "x".repeat(1024 * 1024)])));
    const disk = join(repo.base, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
    try {
      const before = surroundings(repo);

      const { result, words } = await run(repo, ["true"], { include: ["*.bin"] }, { template: "disk/{slug}" });

      expect(result.kind).toBe("refused");
      expect(words).toMatch(/ENOSPC.*\.bin/);
      expect(surroundings(repo)).toEqual(before);
      expect(readdirSync(disk)).toEqual([]);
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

describe("the set-up command", () => {
  test("runs in the new worktree before the agent, its output told as it comes", async ({ repo }) => {
    repo.commit({ ".gitignore": "deps/\n" });
    const command =
      'mkdir deps && pwd > deps/where && echo "$ULTRATHINK_CHECKOUT" >> deps/where && echo installing >&2';

    const { result, told, words } = await run(repo, ["cp deps/where out.txt"], setup(command));

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe(`${repo.path}.worktrees/scripted-run\n${repo.path}\n`);
    const types = told.map(({ type }) => type);
    expect(types.indexOf("setup-output")).toBeGreaterThan(0);
    expect(types.indexOf("setup-output")).toBeLessThan(types.indexOf("iteration-started"));
    expect(told).toContainEqual({ type: "setup-output", text: "installing\n" });
    expect(words).toContain("went with it: deps/");
  });

  test("changes nothing that is committed, unless the agent works on it", async ({ repo }) => {
    repo.commit({ "lock.json": "1\n", "touched.json": "1\n", "gone.txt": "1\n" });
    const command = "echo 2 > lock.json; echo 2 > touched.json; rm gone.txt; echo new > made.txt; git add made.txt";

    const { result, words, told } = await run(repo, ["echo 3 > touched.json; echo w > work.txt"], setup(command));

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, iterations: 2 } });
    expect(repo.git("show", "--format=", "--name-only", "main").split("\n")).toEqual(["touched.json", "work.txt"]);
    expect(repo.read("lock.json")).toBe("1\n");
    expect(noteOf(told)).toContain("set-up changed gone.txt, lock.json, made.txt, touched.json");
    expect(words).toContain("worktree and scratch branch removed");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });

  test("that changes files is no work: a run that adds none has nothing to land", async ({ repo }) => {
    const { result } = await run(repo, ["true"], setup("echo 2 > README.md; echo 1 > made.txt"));
    expect(result).toMatchObject({ report: { ending: { kind: "nothing-to-land" }, stop: { kind: "no-git-changes" } } });
    expect(result).not.toMatchObject({ report: { ending: { kept: expect.anything() } } });
    expect(repo.git("branch", "--list", "ultrathink/*")).toBe("");
  });

  for (const [what, command, limit, says] of [
    ["fails", "seq 100; echo no such package >&2; exit 3", 60_000, /exit code 3[\s\S]*no such package/],
    ["takes too long", "echo slow; sleep 600 & sleep 600", 1_500, /not done after[\s\S]*slow/],
    ["leaves the branch", "git switch --quiet --detach", 60_000, /off its branch.*a detached HEAD/],
    ["is killed", "kill -9 $$", 60_000, /ended by SIGKILL/],
  ] as const) {
    test(`that ${what} is a reason not to start, and nothing of the run stays`, async ({ repo }) => {
      repo.makeDirty();
      repo.write({ ".worktreeinclude": "*.secret\n" });
      const before = surroundings(repo);

      const { result, words, sent } = await run(repo, ["echo never"], setup(command, limit));

      expect(result.kind).toBe("refused");
      expect(sent).toEqual([]);
      expect(words).toMatch(says);
      expect(words).toContain("your checkout is as it was");
      expect(words).not.toMatch(/^50$/m); // the end of the output is enough
      expect(surroundings(repo)).toEqual(before);
      expect(await processesIn(repo.base, "sleep")).toEqual([]);
    });
  }

  test("that commits on the run's branch is refused, and the branch is kept and named", async ({ repo }) => {
    const command = "echo 1 > made.txt; git add .; git -c user.name=A -c user.email=a@b commit --quiet -m made";
    const { result, words } = await run(repo, ["true"], setup(command));
    expect(result.kind).toBe("refused");
    expect(words).toContain("Branch ultrathink/scripted-run is kept: something was committed on it.");
    expect(repo.git("show", "ultrathink/scripted-run:made.txt")).toBe("1");
    expect(existsSync(`${repo.path}.worktrees`)).toBe(false);
  });

  test("ends with all that it started when the user steps in", async ({ repo }) => {
    const before = surroundings(repo);
    const stop = new AbortController();
    const progress = ({ type }: Progress) => {
      if (type === "setup-output") stop.abort({ kind: "cancelled-by-interrupt" });
    };
    const command = "sleep 600 & echo started; sleep 600";
    const { result } = await run(repo, ["true"], setup(command), { signal: stop.signal, progress });
    expect(result).toEqual({ kind: "cancelled", tookBack: true });
    expect(surroundings(repo)).toEqual(before);
    expect(await processesIn(repo.base, "sleep")).toEqual([]);
  });

  test("does not keep other runs waiting", async ({ repo }) => {
    const slow = run(repo, ["echo 1 > slow.txt"], setup(`until test -e ${repo.base}/go; do sleep 0.05; done`), {
      slugs: ["slow-one"],
    });
    const { result } = await run(repo, ["echo 1 > quick.txt"], {}, { slugs: ["quick-one"] });
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    writeFileSync(join(repo.base, "go"), "");
    expect((await slow).result).toMatchObject({ report: { ending: { kind: "landed" } } });
  });
});

describe("a run in a repository", () => {
  test("with submodules has them, and takes its worktree away", async ({ repo }) => {
    const lib = join(repo.base, "lib");
    mkdirSync(lib);
    repo.gitIn(lib, "init", "--quiet");
    writeFileSync(join(lib, "lib.txt"), "lib\n");
    repo.gitIn(lib, "add", ".");
    repo.gitIn(lib, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "lib");
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib");
    repo.commit({});

    const { result, told, words } = await run(repo, ["cp lib/lib.txt out.txt"], {});

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("lib\n");
    expect(noteOf(told)).toContain("submodules from your checkout: lib");
    expect(words).toContain("worktree and scratch branch removed");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });

  test("keeps its worktree for a commit that only its submodule has", async ({ repo }) => {
    const lib = join(repo.base, "lib");
    mkdirSync(lib);
    repo.gitIn(lib, "init", "--quiet");
    repo.gitIn(lib, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "lib");
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "lib");
    repo.commit({});

    const commit = "git -C lib -c user.name=A -c user.email=a@b commit --quiet --allow-empty -m mine";
    const { words } = await run(repo, [commit], {});

    expect(words).toContain("nowhere else: lib");
    expect(existsSync(`${repo.path}.worktrees/scripted-run/lib/.git`)).toBe(true);
    expect(repo.git("worktree", "list", "--porcelain")).not.toContain("locked");
  });

  test("that is sparse is sparse as well, and says so", async ({ repo }) => {
    repo.commit({ "in/a.txt": "1\n", "out/b.txt": "1\n" });
    repo.git("sparse-checkout", "set", "--cone", "in");
    const { result, told } = await run(repo, ["ls > in/list.txt"], {});
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("in/list.txt")).toBe("README.md\nin\n");
    expect(noteOf(told)).toContain("sparse, like your checkout");
  });

  test("whose required filter fails is refused by the filter's name, and nothing stays", async ({ repo }) => {
    repo.commit({ "a.bin": "a\n", ".gitattributes": "*.bin filter=lost\n" });
    repo.git("config", "filter.lost.clean", "cat");
    repo.git("config", "filter.lost.smudge", "echo no server >&2; false");
    repo.git("config", "filter.lost.required", "true");
    const before = surroundings(repo);
    const { result, words } = await run(repo, ["true"], {});
    expect(result.kind).toBe("refused");
    expect(words).toMatch(/filter lost, which is required[\s\S]*no server/);
    expect(surroundings(repo)).toEqual(before);
  });

  test("takes a worktree away that a process had begun to delete", async ({ repo }) => {
    repo.commit({ "a.txt": "1\n" });
    const check = { command: "rm a.txt", timeoutMs: 60_000 };
    const { result } = await run(repo, ["echo 1 > work.txt"], {}, { options: { check } });
    expect(result).toMatchObject({ report: { ending: { kind: "landed", notes: [] } } });
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });

  test("with a file that is modified from birth leaves it out, and takes its worktree away", async ({ repo }) => {
    repo.commit({ "crlf.txt": "a\r\nb\r\n", "edited.txt": "a\r\n" });
    repo.write({ ".gitattributes": "* text eol=lf\n" });
    repo.git("add", ".gitattributes");
    repo.git("commit", "--quiet", "--message=attributes");
    const touch = "touch -d '1 hour ago' crlf.txt edited.txt";

    const idle = await run(repo, [touch], {});
    expect(idle.result).toMatchObject({ report: { ending: { kind: "nothing-to-land" } } });
    expect(idle.result).not.toMatchObject({ report: { ending: { kept: expect.anything() } } });

    const busy = await run(repo, [`${touch}; echo w > work.txt`], {});
    expect(busy.result).toMatchObject({ report: { ending: { kind: "landed" }, iterations: 2 } });
    expect(repo.git("show", "--format=", "--name-only", "main")).toBe("work.txt");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);

    const options = { land: "none", max: 4, reviewInstructions: "" } as const;
    await run(repo, [`${touch}; echo b >> edited.txt`], {}, { options, slugs: ["edits-it"] });
    expect(repo.git("show", "--format=", "--name-only", "ultrathink/edits-it")).toBe("edited.txt");
  });
});

describe("a kept run", () => {
  const known = async (repo: TestRepo) => {
    const { runs } = await knownRuns(await openRepository(repo.path, { env: repo.env() }));
    return runs[0] ?? expect.fail("there is no run");
  };

  test("whose worktree is made anew gets all that it needs again", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\n" });
    repo.write({ "a.env": "1\n" });
    const wishes = { include: ["*.env"], ...setup("echo 2 > README.md") };
    await run(repo, ["echo 1 > one.txt", "exit 70"], wishes);
    rmSync(`${repo.path}.worktrees/scripted-run`, { recursive: true });

    const resume = await known(repo);
    const { result, told } = await run(repo, ["cat a.env README.md > two.txt"], wishes, { resume });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("two.txt")).toBe("1\n2\n");
    expect(repo.read("README.md")).toBe("hello\n");
    expect(told.map(({ type }) => type)).toContain("equipped");
  });

  test("whose process died while it was being made ready is made ready anew", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\nhalf\n" });
    repo.write({ "a.env": "1\n" });
    const child = fileURLToPath(new URL("../support/run-child.ts", import.meta.url));
    const args = ["--import", "tsx", child, repo.path, "[]", "", "echo 1 > half; kill -9 $PPID"];
    expect(spawnSync(process.execPath, args, { env: repo.env() }).signal).toBe("SIGKILL");
    const worktree = `${repo.path}.worktrees/scripted-run`;
    expect(existsSync(join(worktree, "half"))).toBe(true);

    const resume = await known(repo);
    expect(resume).toMatchObject({ status: "interrupted", iterations: 0 });
    const wishes = { include: ["*.env"], ...setup("test ! -e half && cp a.env ready.env") };
    const { result, sent } = await run(repo, ["cp ready.env out.txt"], wishes, { resume });

    expect(sent[0]).toBe("Do the scripted work");
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("1\n");
  });

  test("stays one when its set-up fails, and can be resumed once that is mended", async ({ repo }) => {
    await run(repo, ["echo 1 > one.txt", "exit 70"], {});
    const worktree = `${repo.path}.worktrees/scripted-run`;
    rmSync(worktree, { recursive: true });

    const refused = await run(repo, [], setup("echo no network >&2; exit 1"), { resume: await known(repo) });

    expect(refused.words).toMatch(/no network[\s\S]*Branch ultrathink\/scripted-run is kept/);
    expect(existsSync(worktree)).toBe(false);
    expect(await known(repo)).toMatchObject({ status: "preserved", stop: { kind: "git-error" } });
    const { result } = await run(repo, ["echo 2 > two.txt"], setup("true"), { resume: await known(repo) });
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect([repo.read("one.txt"), repo.read("two.txt")]).toEqual(["1\n", "2\n"]);
  });

  test("is kept as well when the user steps in while its worktree is made anew", async ({ repo }) => {
    await run(repo, ["echo 1 > one.txt", "exit 70"], {});
    rmSync(`${repo.path}.worktrees/scripted-run`, { recursive: true });
    const stop = new AbortController();
    const progress = ({ type }: Progress) => {
      if (type === "setup-output") stop.abort({ kind: "cancelled-by-interrupt" });
    };
    const resume = await known(repo);
    const { result } = await run(repo, [], setup("echo go; sleep 600"), { resume, signal: stop.signal, progress });
    expect(result).toEqual({ kind: "cancelled", tookBack: true });
    expect(await known(repo)).toMatchObject({ status: "preserved", stop: { kind: "cancelled-by-interrupt" } });
  });

  test("that is thrown away keeps no copy of an ignored file in its last commit", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\n" });
    repo.write({ "a.env": "SECRET=1\n" });
    await run(repo, [": > .gitignore; echo 1 > work.txt; exit 70"], { include: ["*.env"] });
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

describe("worktrees go where the template says", () => {
  test("also through a symbolic link, and folders made for one are taken away with it on failure", async ({ repo }) => {
    mkdirSync(join(repo.base, "fast"));
    symlinkSync("fast", join(repo.base, "link"));
    const template = "link/{repo}/deep/run-{slug}/tree";
    const failed = await run(repo, ["true"], setup("exit 1"), { template });
    expect(failed.result.kind).toBe("refused");
    expect(readdirSync(join(repo.base, "fast"))).toEqual([]);

    const { result } = await run(repo, ["pwd > where.txt"], {}, { template });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("where.txt")).toBe(`${repo.base}/fast/repo/deep/run-scripted-run/tree\n`);
  });

  test("never inside a working tree, this repository's or another's, unless it is ignored there", async ({ repo }) => {
    const other = join(repo.base, "other");
    mkdirSync(other);
    repo.gitIn(other, "init", "--quiet");
    for (const [template, where] of [
      ["{parent}/{repo}/trees/{slug}", repo.path],
      ["other/{slug}", other],
    ] as const) {
      const before = surroundings(repo);
      const refused = await run(repo, ["true"], {}, { template });
      expect(refused.words).toContain(`is inside the checkout ${where}`);
      expect(surroundings(repo)).toEqual(before);

      writeFileSync(join(where, ".gitignore"), "*\n");
      const { result } = await run(repo, [`echo ${where} > a.txt`], {}, { template, slugs: [`in-${where === other}`] });
      expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
      writeFileSync(join(where, ".gitignore"), "");
    }
  });

  test("may be in a repository that this one is in as well", async ({ repo }) => {
    repo.gitIn(repo.base, "init", "--quiet");
    const { result } = await run(repo, ["echo 1 > a.txt"], {});
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
  });

  test("and names are free that no registration of a missing directory has", async ({ repo }) => {
    const stale = `${repo.path}.worktrees/scripted-run`;
    repo.git("worktree", "add", "--quiet", "-b", "old", stale);
    repo.git("worktree", "lock", "--reason=ultrathink run gone (scripted-run)", stale);
    rmSync(stale, { recursive: true });

    const { result } = await run(repo, ["echo 1 > a.txt"], {}, { slugs: ["scripted-run", "another-name"] });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, run: { slug: "another-name" } } });
    expect(repo.git("worktree", "list", "--porcelain")).toContain("ultrathink run gone");
  });
});
