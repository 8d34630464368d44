import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { type TreePath, toWorktreePath } from "../../src/git/names.ts";
import { openRepository } from "../../src/git/repository.ts";
import { type CopyProgress, copyPaths } from "../../src/worktree/copy.ts";
import { includedPaths } from "../../src/worktree/include.ts";
import { type TestRepo, test } from "../support/repo.ts";

async function included(repo: TestRepo, ...patterns: string[]): Promise<string[]> {
  const repository = await openRepository(repo.path, { env: repo.env() });
  return (await includedPaths(repository, toWorktreePath(repo.path), patterns)).sort();
}

/** Copies what is included into a new worktree and gives its path. */
async function copied(repo: TestRepo, ...patterns: string[]) {
  const worktree = toWorktreePath(repo.linkedWorktree("topic"));
  const paths = (await included(repo, ...patterns)) as TreePath[];
  return { worktree, result: await copyPaths(toWorktreePath(repo.path), worktree, paths) };
}

describe("ignored files that are asked for", () => {
  test("are those that git ignores, never a tracked or merely untracked one", async ({ repo }) => {
    repo.write({ ".gitignore": "*.env\nnode_modules/\nbuild/\n", "tracked.env": "1\n", "build/tracked.txt": "1\n" });
    repo.git("add", "--force", ".");
    repo.commit({});
    repo.write({ "a.env": "", "sub/b.env": "", "untracked.txt": "", "node_modules/x/y.js": "", "build/made.o": "" });
    repo.write({ ".worktreeinclude": "*.env\n*.txt\nnode_modules\nbuild\nREADME.md\n" });

    expect(await included(repo)).toEqual(["a.env", "build/made.o", "node_modules/", "sub/b.env"]);
    expect(await included(repo, "!sub/b.env")).toEqual(["a.env", "build/made.o", "node_modules/"]);
    repo.write({ ".worktreeinclude": "" });
    expect(await included(repo)).toEqual([]);
    expect(await included(repo, "*.env")).toEqual(["a.env", "sub/b.env"]);
  });

  test("are none without a file or patterns", async ({ repo }) => {
    repo.write({ ".gitignore": "*.env\n", "a.env": "" });
    expect(await included(repo)).toEqual([]);
  });

  test("are files that both lists of rules match, whatever the rules", async ({ repo }) => {
    const name = fc.constantFrom("a", "b", "c.x", "d e");
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    const rule = fc
      .tuple(fc.constantFrom("", "", "!"), fc.constantFrom("", "/"), path, fc.constantFrom("", "/", "/*"))
      .map((parts) => parts.join(""));
    const rules = fc.array(fc.oneof(rule, fc.constantFrom("*.x", "*", "**/b")), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 8 }),
        rules,
        rules,
        fc.nat(3),
        async (files, ignore, wanted, tracked) => {
          execFileSync(
            "bash",
            ["-c", "shopt -s dotglob; rm -rf [!.]* .gitignore; git rm -rq --cached --ignore-unmatch ."],
            {
              cwd: repo.path,
              env: repo.env(),
            },
          );
          for (const file of files) {
            // One path may be a folder of another.
            if (existsSync(join(repo.path, file)) || !makeFolders(join(repo.path, file))) continue;
            writeFileSync(join(repo.path, file), "");
          }
          const list = (text: string[]) => text.map((line) => `${line}\n`).join("");
          repo.write({ ".gitignore": list(ignore), ".worktreeinclude": list(wanted) });
          const present = files.filter((file) => existsSync(join(repo.path, file)) && !isFolder(join(repo.path, file)));
          if (tracked < present.length) repo.git("add", "--force", "--", present[tracked] ?? "");
          const both = (...args: string[]) =>
            new Set(
              repo
                .git("ls-files", "-z", "--others", "--ignored", ...args)
                .split("\0")
                .slice(0, -1),
            );
          const ignored = both("--exclude-standard");
          const expected = [...both("--exclude-from=.worktreeinclude")].filter((file) => ignored.has(file)).sort();

          const paths = await included(repo);
          expect(filesOf(repo.path, paths)).toEqual(expected);
          for (const folder of paths.filter((path) => path.endsWith("/"))) {
            repo.git("check-ignore", "--quiet", folder); // otherwise a new file in it would be taken for a copy
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

function makeFolders(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return true;
  } catch (error) {
    if (["EEXIST", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}

function filesOf(top: string, paths: readonly string[]): string[] {
  return paths
    .flatMap((path) => {
      if (!path.endsWith("/")) return [path];
      const names = readdirSync(join(top, path), { recursive: true, encoding: "utf8" });
      return names.map((name) => `${path}${name}`).filter((file) => !isFolder(join(top, file)));
    })
    .sort();
}

describe("copying them", () => {
  test("keeps content, mode, times, links and empty folders", async ({ repo }) => {
    repo.write({ ".gitignore": "deps/\n.env\n" });
    repo.commit({});
    repo.write({ ".env": "SECRET=1\n", "deps/pkg/run.sh": "#!/bin/sh\n", "deps/pkg/data": "x" });
    const odd = Buffer.concat([Buffer.from(join(repo.path, "deps", "caf")), Buffer.from([0xe9])]);
    writeFileSync(odd, "latin1\n");
    mkdirSync(join(repo.path, "deps/empty"));
    chmodSync(join(repo.path, "deps/pkg/run.sh"), 0o750);
    chmodSync(join(repo.path, ".env"), 0o600);
    chmodSync(join(repo.path, "deps/pkg"), 0o555);
    symlinkSync("pkg/run.sh", join(repo.path, "deps/run"));
    symlinkSync("nowhere", join(repo.path, "deps/dangling"));
    for (const path of ["deps/pkg/data", "deps/pkg", "deps"]) utimesSync(join(repo.path, path), 1e9, 1e9 + 0.25);

    const { worktree, result } = await copied(repo, "deps/", ".env");

    expect(result).toEqual({ files: 6, bytes: 27, skipped: [] });
    const stats = (path: string, top: string = worktree) => lstatSync(join(top, path));
    expect(repo.read(".env", worktree)).toBe("SECRET=1\n");
    expect(stats(".env").mode & 0o777).toBe(0o600);
    expect(stats("deps/pkg/run.sh").mode & 0o777).toBe(0o750);
    expect(stats("deps/pkg").mode & 0o777).toBe(0o755); // otherwise nobody but root could remove the worktree
    expect(stats("deps/empty").isDirectory()).toBe(true);
    expect(readlinkSync(join(worktree, "deps/run"))).toBe("pkg/run.sh");
    expect(readlinkSync(join(worktree, "deps/dangling"))).toBe("nowhere");
    expect(readFileSync(Buffer.concat([Buffer.from(`${worktree}/deps/caf`), Buffer.from([0xe9])]), "utf8")).toBe(
      "latin1\n",
    );
    for (const path of ["deps/pkg/data", "deps/pkg", "deps", "deps/pkg/run.sh", "deps/run"]) {
      expect(stats(path).mtimeMs, path).toBeCloseTo(stats(path, repo.path).mtimeMs, 2);
    }
    expect(repo.gitIn(worktree, "status", "--porcelain")).toBe("");
  });

  test("leaves no way from one worktree into the other", async ({ repo }) => {
    repo.write({ ".gitignore": "deps/\n" });
    repo.commit({ "packages/lib/index.js": "1\n" });
    repo.write({ "deps/x": "" });
    symlinkSync(repo.path, join(repo.base, "alias"));
    const links = {
      relative: "../packages/lib",
      absolute: join(repo.path, "packages/lib"),
      aliased: join(repo.base, "alias/packages/lib"),
      roundabout: "../../repo/packages/lib",
      top: repo.path,
      outside: "/etc/hosts",
      beside: "../../elsewhere",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(repo.path, "deps", name));

    const { worktree } = await copied(repo, "deps/");

    const read = (name: string) => readlinkSync(join(worktree, "deps", name));
    expect(read("relative")).toBe("../packages/lib");
    expect(read("absolute")).toBe(join(worktree, "packages/lib"));
    expect(read("aliased")).toBe(join(worktree, "packages/lib"));
    expect(read("roundabout")).toBe("../packages/lib");
    expect(read("top")).toBe(worktree);
    expect(read("outside")).toBe("/etc/hosts");
    expect(read("beside")).toBe(join(repo.base, "elsewhere"));
  });

  test("follows no link out of the checkout, and takes a link to a folder for what it is", async ({ repo }) => {
    repo.write({ ".gitignore": "deps\n" });
    repo.commit({});
    repo.write({ "secret.txt": "1\n" }, join(repo.base, "elsewhere"));
    symlinkSync("../elsewhere", join(repo.path, "deps"));

    const { worktree, result } = await copied(repo, "deps");

    expect(result.files).toBe(1);
    expect(lstatSync(join(worktree, "deps")).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(worktree, "deps"))).toBe(join(repo.base, "elsewhere"));
  });

  test("leaves alone what the worktree has already, and writes through no link of its", async ({ repo }) => {
    repo.write({ ".gitignore": "*.env\nout/\nlinked/\n" });
    repo.commit({});
    const start = repo.topic("other", { "kept.txt": "1\n" });
    repo.git("switch", "--quiet", "other");
    symlinkSync("../elsewhere", join(repo.path, "linked"));
    repo.write({ "mine.env": "tracked there\n", out: "a file\n" });
    repo.git("add", "--force", ".");
    repo.commit({});
    repo.git("switch", "--quiet", "main");
    mkdirSync(join(repo.base, "elsewhere"));
    mkdirSync(join(repo.base, "worktrees/elsewhere"), { recursive: true });
    repo.write({ "mine.env": "ignored here\n", "out/x": "1\n", "linked/y.env": "1\n", "new.env": "1\n" });
    const paths = (await included(repo, "*")) as TreePath[];
    const worktree = toWorktreePath(join(repo.base, "worktrees/topic"));
    repo.git("worktree", "add", "--quiet", "-b", "topic", worktree, "other");

    const { files, skipped } = await copyPaths(toWorktreePath(repo.path), worktree, paths);

    expect(start).not.toBe(repo.tip("other"));
    expect(files).toBe(1);
    expect(skipped).toHaveLength(3);
    expect(new Set(skipped.map(({ why }) => why))).toEqual(new Set(["in-the-way"]));
    expect(repo.read("mine.env", worktree)).toBe("tracked there\n");
    expect(repo.read("new.env", worktree)).toBe("1\n");
    expect(readdirSync(join(repo.base, "worktrees/elsewhere"))).toEqual([]);
    expect(repo.gitIn(worktree, "status", "--porcelain")).toBe("");
  });

  test("leaves repositories of their own, other worktrees, sockets and FIFOs where they are", async ({ repo }) => {
    repo.write({ ".gitignore": "deps/\n.trees/\n" });
    repo.commit({});
    repo.write({ "deps/inner/x": "1\n", "deps/y": "1\n" });
    repo.gitIn(join(repo.path, "deps/inner"), "init", "--quiet");
    repo.git("worktree", "add", "--quiet", "-b", "b", ".trees/b");
    execFileSync("mkfifo", [join(repo.path, "deps/fifo")]);

    const { worktree, result } = await copied(repo, "deps/", ".trees/");

    const by = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
    expect([...result.skipped].sort(by)).toEqual([
      { path: ".trees/b", why: "repository" },
      { path: "deps/fifo", why: "special" },
      { path: "deps/inner", why: "repository" },
    ]);
    expect(readdirSync(join(worktree, "deps"))).toEqual(["y"]);
  });

  test("tells how far it is, and stops in the middle of a large file when it is told to", async ({ repo }) => {
    repo.write({ ".gitignore": "*.bin\n" });
    repo.commit({});
    repo.write({ "a.bin": "1", "big.bin": "" });
    truncateSync(join(repo.path, "big.bin"), 2 ** 31);
    const worktree = toWorktreePath(repo.linkedWorktree("topic"));
    const stop = new AbortController();
    const told: CopyProgress[] = [];
    const onProgress = (progress: CopyProgress) => {
      told.push(progress);
      if (progress.bytes > 1) stop.abort(new Error("enough"));
    };
    const copy = copyPaths(toWorktreePath(repo.path), worktree, ["a.bin", "big.bin"] as TreePath[], {
      signal: stop.signal,
      onProgress,
    });

    await expect(copy).rejects.toThrow(/enough|aborted/);
    expect(told.at(-1)?.bytes).toBeLessThan(2 ** 31);
    expect(lstatSync(join(worktree, "big.bin")).size).toBeLessThan(2 ** 31);
  });

  test.runIf(process.getuid?.() === 0)(
    "names the file that it fails on, and nothing goes on then",
    async ({ repo }) => {
      repo.write({ ".gitignore": "*.bin\n" });
      repo.commit({ "locked/README": "1\n" });
      repo.write({ "big.bin": "", "locked/x.bin": "1" });
      truncateSync(join(repo.path, "big.bin"), 2 ** 31);
      const worktree = toWorktreePath(repo.linkedWorktree("topic"));
      execFileSync("chattr", ["+i", join(worktree, "locked")]);

      const copy = copyPaths(toWorktreePath(repo.path), worktree, ["big.bin", "locked/x.bin"] as TreePath[]);

      await expect(copy).rejects.toThrow(/locked\/x\.bin/);
      execFileSync("chattr", ["-i", join(worktree, "locked")]);
      const { size } = lstatSync(join(worktree, "big.bin"));
      await sleep(50);
      expect(lstatSync(join(worktree, "big.bin")).size).toBe(size);
      expect(size).toBeLessThan(2 ** 31);
    },
  );
});
