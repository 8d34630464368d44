import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { equippedRun, setup, surroundings } from "../support/equipped-run.ts";
import { test } from "../support/repo.ts";

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

    const { result, notes, words } = await equippedRun(repo, ["cp lib/lib.txt out.txt"], {});

    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("out.txt")).toBe("lib\n");
    expect(notes).toContain("submodules from your checkout: lib");
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
    const { words } = await equippedRun(repo, [commit], {});

    expect(words).toContain("nowhere else: lib");
    expect(existsSync(`${repo.path}.worktrees/scripted-run/lib/.git`)).toBe(true);
    expect(repo.git("worktree", "list", "--porcelain")).not.toContain("locked");
  });

  test("that is sparse is sparse as well, and says so", async ({ repo }) => {
    repo.commit({ "in/a.txt": "1\n", "out/b.txt": "1\n" });
    repo.git("sparse-checkout", "set", "--cone", "in");
    const { result, notes } = await equippedRun(repo, ["ls > in/list.txt"], {});
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
    expect(repo.read("in/list.txt")).toBe("README.md\nin\n");
    expect(notes).toContain("sparse, like your checkout");
  });

  test("whose required filter fails is refused by the filter's name, and nothing stays", async ({ repo }) => {
    repo.commit({ "a.bin": "a\n", ".gitattributes": "*.bin filter=lost\n" });
    repo.git("config", "filter.lost.clean", "cat");
    repo.git("config", "filter.lost.smudge", "echo no server >&2; false");
    repo.git("config", "filter.lost.required", "true");
    const before = surroundings(repo);
    const { result, words } = await equippedRun(repo, ["true"], {});
    expect(result.kind).toBe("refused");
    expect(words).toMatch(/filter lost, which is required[\s\S]*no server/);
    expect(surroundings(repo)).toEqual(before);
  });

  test("takes a worktree away that a process had begun to delete", async ({ repo }) => {
    repo.commit({ "a.txt": "1\n" });
    const check = { command: "rm a.txt", timeoutMs: 60_000 };
    const { result } = await equippedRun(repo, ["echo 1 > work.txt"], {}, { options: { check } });
    expect(result).toMatchObject({ report: { ending: { kind: "landed", notes: [] } } });
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });

  test("with a file that is modified from birth leaves it out, and takes its worktree away", async ({ repo }) => {
    repo.commit({ "crlf.txt": "a\r\nb\r\n", "edited.txt": "a\r\n" });
    repo.write({ ".gitattributes": "* text eol=lf\n" });
    repo.git("add", ".gitattributes");
    repo.git("commit", "--quiet", "--message=attributes");
    const touch = "touch -d '1 hour ago' crlf.txt edited.txt";

    const idle = await equippedRun(repo, [touch], {});
    expect(idle.result).toMatchObject({ report: { ending: { kind: "nothing-to-land" } } });
    expect(idle.result).not.toMatchObject({ report: { ending: { kept: expect.anything() } } });

    const busy = await equippedRun(repo, [`${touch}; echo w > work.txt`], {});
    expect(busy.result).toMatchObject({ report: { ending: { kind: "landed" }, iterations: 2 } });
    expect(repo.git("show", "--format=", "--name-only", "main")).toBe("work.txt");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);

    const options = { land: "none", max: 4, reviewInstructions: "" } as const;
    await equippedRun(repo, [`${touch}; echo b >> edited.txt`], {}, { options, slugs: ["edits-it"] });
    expect(repo.git("show", "--format=", "--name-only", "ultrathink/edits-it")).toBe("edited.txt");
  });
});

describe("worktrees go where the template says", () => {
  test("also through a symbolic link, and folders made for one are taken away with it on failure", async ({ repo }) => {
    mkdirSync(join(repo.base, "fast"));
    symlinkSync("fast", join(repo.base, "link"));
    const template = "link/{repo}/deep/run-{slug}/tree";
    const failed = await equippedRun(repo, ["true"], setup("exit 1"), { template });
    expect(failed.result.kind).toBe("refused");
    expect(readdirSync(join(repo.base, "fast"))).toEqual([]);

    const { result } = await equippedRun(repo, ["pwd > where.txt"], {}, { template });

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
      const refused = await equippedRun(repo, ["true"], {}, { template });
      expect(refused.words).toContain(`is inside the checkout ${where}`);
      expect(surroundings(repo)).toEqual(before);

      writeFileSync(join(where, ".gitignore"), "*\n");
      const { result } = await equippedRun(
        repo,
        [`echo ${where} > a.txt`],
        {},
        { template, slugs: [`in-${where === other}`] },
      );
      expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
      writeFileSync(join(where, ".gitignore"), "");
    }
  });

  test("may be in a repository that this one is in as well", async ({ repo }) => {
    repo.gitIn(repo.base, "init", "--quiet");
    const { result } = await equippedRun(repo, ["echo 1 > a.txt"], {});
    expect(result).toMatchObject({ report: { ending: { kind: "landed" } } });
  });

  test("and names are free that no registration of a missing directory has", async ({ repo }) => {
    const stale = `${repo.path}.worktrees/scripted-run`;
    repo.git("worktree", "add", "--quiet", "-b", "old", stale);
    repo.git("worktree", "lock", "--reason=ultrathink run gone (scripted-run)", stale);
    rmSync(stale, { recursive: true });

    const { result } = await equippedRun(repo, ["echo 1 > a.txt"], {}, { slugs: ["scripted-run", "another-name"] });

    expect(result).toMatchObject({ report: { ending: { kind: "landed" }, run: { slug: "another-name" } } });
    expect(repo.git("worktree", "list", "--porcelain")).toContain("ultrathink run gone");
  });
});
