import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { processesIn } from "../../src/process/processes-in.ts";
import type { Progress } from "../../src/run/progress.ts";
import { equippedRun, setup, surroundings } from "../support/equipped-run.ts";
import { test } from "../support/repo.ts";

describe("ignored files that a run is given", () => {
  test("are there for the agent, in no commit, and named when they go", async ({ repo }) => {
    repo.commit({ ".gitignore": ".env\ndeps/\n", ".worktreeinclude": ".env\n" });
    repo.write({ ".env": "SECRET=1\n", "deps/a.js": "1\n", "deps/b.js": "2\n" });
    const before = repo.snapshot();

    const { result, words, told, notes } = await equippedRun(repo, ["cat .env deps/a.js > out.txt"], {
      include: ["deps/"],
    });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("SECRET=1\n1\n");
    expect(repo.git("log", "--format=", "--name-only", "main")).not.toContain(".env");
    expect(words).toContain("ignored files of the worktree went with it: .env, deps/");
    expect(notes).toContain("copied in 3 ignored files (13 B)");
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

    const { result, words } = await equippedRun(repo, passes, { include: [".env", "deps"] });

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
    const { result } = await equippedRun(repo, ["true"], { include: ["deps/"] }, { base: withoutRules });
    expect(base).not.toBe(withoutRules);
    expect(result).toMatchObject({ report: { ending: { kind: "nothing-to-land", ignored: ["deps/"] } } });
    expect(result).not.toMatchObject({ report: { ending: { kept: expect.anything() } } });
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });

  test("that cannot be read as a list are a reason not to start", async ({ repo }) => {
    mkdirSync(join(repo.path, ".worktreeinclude"));
    const before = surroundings(repo);
    const { result, words } = await equippedRun(repo, ["true"], {});
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

      const { result, words } = await equippedRun(repo, ["true"], { include: ["*.bin"] }, { template: "disk/{slug}" });

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

    const { result, told, words } = await equippedRun(repo, ["cp deps/where out.txt"], setup(command));

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

    const { result, words, notes } = await equippedRun(
      repo,
      ["echo 3 > touched.json; echo w > work.txt"],
      setup(command),
    );

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, iterations: 2 } });
    expect(repo.git("show", "--format=", "--name-only", "main").split("\n")).toEqual(["touched.json", "work.txt"]);
    expect(repo.read("lock.json")).toBe("1\n");
    expect(notes).toContain("set-up changed gone.txt, lock.json, made.txt, touched.json");
    expect(words).toContain("worktree and scratch branch removed");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });

  test("that changes files is no work: a run that adds none has nothing to land", async ({ repo }) => {
    const { result } = await equippedRun(repo, ["true"], setup("echo 2 > README.md; echo 1 > made.txt"));
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

      const { result, words, sent } = await equippedRun(repo, ["echo never"], setup(command, limit));

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
    const { result, words } = await equippedRun(repo, ["true"], setup(command));
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
    const { result } = await equippedRun(repo, ["true"], setup(command), { signal: stop.signal, progress });
    expect(result).toEqual({ kind: "cancelled", tookBack: true });
    expect(surroundings(repo)).toEqual(before);
    expect(await processesIn(repo.base, "sleep")).toEqual([]);
  });

  test("does not keep other runs waiting", async ({ repo }) => {
    const slow = equippedRun(repo, ["echo 1 > slow.txt"], setup(`until test -e ${repo.base}/go; do sleep 0.05; done`), {
      slugs: ["slow-one"],
    });
    const { result } = await equippedRun(repo, ["echo 1 > quick.txt"], {}, { slugs: ["quick-one"] });
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    writeFileSync(join(repo.base, "go"), "");
    expect((await slow).result).toMatchObject({ report: { ending: { kind: "landed" } } });
  });
});
