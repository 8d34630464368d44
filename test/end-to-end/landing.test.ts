import { existsSync } from "node:fs";
import { describe, expect } from "vitest";
import { type PiEvent, startPrint } from "../support/pi-print.ts";
import { test } from "../support/repo.ts";
import { noteText } from "../support/session-events.ts";
import {
  command,
  homeOf,
  kept,
  nothingLeft,
  ultrathink,
  withLanded,
  worktreeOf,
  writing,
} from "../support/ultrathink.ts";

describe("a run from a dirty checkout leaves all of it as it was", () => {
  test("and adds what landed by fast-forward: one commit", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();
    const main = repo.tip("main");

    const { code, stdout, stderr } = await ultrathink(
      repo,
      { passes: [writing({ "a.txt": "a\n" }), nothingLeft] },
      { args: "--check 'grep -q a a.txt && touch $HOME/checked'" },
    );

    expect(repo.snapshot()).toEqual(withLanded(repo, before, { "a.txt": "a\n" }));
    expect(repo.tip("main^")).toBe(main);
    expect(repo.git("log", "-1", "--format=%B%an", "main")).toBe("Scripted commit 1\n\n- body 1\nA U Thor");
    expect(kept(repo)).toEqual({ branch: false, worktree: false, locked: false });
    expect(existsSync(`${homeOf(repo)}/checked`)).toBe(true);
    expect(code).toBe(0);
    expect(stderr).toContain("v1 committed");
    expect(stdout).toMatch(/✔ landed on main by fast-forward, .* · 1 commit · 2 iterations/);
    expect(stdout).toContain("your 4 uncommitted files are as they were");
  });

  test("and adds what landed with a merge commit: two commits, the message the model's own", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();
    const main = repo.tip("main");
    const files = { "a.txt": "a\n", "lib/b.txt": "b\n" };

    const { code, stdout } = await ultrathink(repo, {
      passes: [writing({ "a.txt": "a\n" }), writing({ "lib/b.txt": "b\n" }), nothingLeft],
      merges: ['{"subject":"Bring a and b","body":"- both"}'],
    });

    expect(repo.snapshot()).toEqual(withLanded(repo, before, files));
    const [parents, ...message] = repo.git("log", "-1", "--format=%P%n%B", "main").split("\n");
    expect(parents?.split(" ")).toEqual([main, repo.tip("main^2")]);
    expect(message.join("\n").trim()).toBe("Bring a and b\n\n- both");
    expect(repo.git("log", "--format=%s", "main^2", "^main^1")).toBe("Scripted commit 2\nScripted commit 1");
    expect(code).toBe(0);

    // What the summary says about undoing it holds, for every staged and unstaged change.
    const [undo = ""] = /\/ultrathink-runs undo .*$/m.exec(stdout) ?? [];
    expect(await command(repo, undo)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("undone: main is back"),
    });
    expect(repo.snapshot()).toEqual(before);
    expect(repo.tip("main")).toBe(main);
  });

  test("and changes nothing at all on a conflict", async ({ repo }) => {
    const base = repo.commit({ "a.txt": "1\n" });
    repo.commit({ "a.txt": "main's\n" });
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    const script = { passes: [writing({ "a.txt": "run's\n" }), nothingLeft] };

    const { code, stdout } = await ultrathink(repo, script, { args: `--base ${base}` });

    expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
    expect(kept(repo)).toEqual({ branch: true, worktree: true, locked: true });
    expect(repo.read("a.txt", worktreeOf(repo))).toBe("run's\n");
    expect(code).toBe(1);
    expect(stdout).toMatch(/✖ not landed · 1 commit/);
    expect(stdout).toContain("both change a.txt (1 conflict)");
    expect(stdout).toContain("resume: /ultrathink-runs resume scripted-run   (the agent merges main and resolves)");
  });

  test("and replays the work on what the user commits meanwhile; JSON mode prints nothing but JSON", async ({
    repo,
  }) => {
    repo.makeDirty();
    const passes = [{ ...writing({ "a.txt": "a\n" }), slowMs: 1_500 }, nothingLeft];
    const pi = startPrint({
      home: homeOf(repo),
      cwd: repo.path,
      mode: "json",
      script: { passes },
      prompt: "/ultrathink Add a",
    });
    try {
      await expect.poll(() => existsSync(`${worktreeOf(repo)}/a.txt`), { timeout: 45_000 }).toBe(true);
      repo.write({ "other.txt": "other\n" });
      repo.git("add", "other.txt");
      repo.git("commit", "--quiet", "--message=other", "--", "other.txt");
      const before = repo.snapshot();
      const { code, stdout } = await pi.result();

      expect(repo.snapshot()).toEqual(withLanded(repo, before, { "a.txt": "a\n" }));
      expect(repo.git("log", "-3", "--format=%s", "main")).toBe("Scripted commit 1\nother\ncommit 2");
      expect(code).toBe(0);
      const events = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as PiEvent);
      expect(events.map(noteText).filter(Boolean)).toEqual([
        expect.stringMatching(/^✔ landed on main by rebase and fast-forward/),
      ]);
    } finally {
      await pi.stop();
    }
  });
});
