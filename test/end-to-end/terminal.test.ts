import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { requests } from "../support/hosts.ts";
import { startTmux } from "../support/pi-tmux.ts";
import { test } from "../support/repo.ts";
import { homeOf, kept, nextScript, traces, worktreeOf, writing } from "../support/ultrathink.ts";

describe("in a terminal", () => {
  test("a run shows what it does, and ends on Escape and on typed text, whatever it is at", async ({ repo }) => {
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    const untouched = () => expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
    const home = homeOf(repo);
    const pi = await startTmux({ home, cwd: repo.path });
    const enter = async (text: string) => {
      await pi.type(text);
      await pi.keys("Enter");
    };
    try {
      // in the middle of a turn
      const working = { ...writing({ "a.txt": "a\n" }), slowMs: 60_000 };
      nextScript(home, { passes: [working], slugs: ['{"slug":"in-turn"}'] });
      await enter("/ultrathink Add a");
      await pi.waitFor(/Model for names and commit messages[\s\S]*scripted\/agent[\s\S]*scripted\/naming/);
      await pi.keys("Down", "Enter");
      const screen = await pi.waitFor(/Scripted wait/);
      expect(screen).toContain("worktree ../repo.worktrees/in-turn on ultrathink/in-turn, from main");
      expect(screen).toContain("4 uncommitted files stay in your checkout and are not part of this run");
      expect(screen).toContain("v1 of up to 4 on ultrathink/in-turn");
      await enter("!pwd");
      await pi.waitFor(new RegExp(`^ *${worktreeOf(repo, "in-turn")}$`, "m"));
      await pi.keys("Escape");
      await pi.waitFor(/✖ not landed .*[\s\S]*cancelled: you interrupted it/);
      await pi.waitFor(/again \(branch main\)/);
      expect(await pi.screen()).not.toContain("v1 of up to 4");
      expect(kept(repo, "in-turn")).toEqual({ branch: true, worktree: true, locked: true });
      untouched();

      // between two turns
      nextScript(home, {
        passes: [writing({ "a.txt": "a\n" }), { text: "must not be asked for" }],
        slugs: ['{"slug":"in-gap"}'],
        commits: [{ delayMs: 60_000, text: "too late" }],
      });
      await enter("/ultrathink Add a");
      await pi.waitFor(/writing the commit message/);
      await pi.keys("Escape");
      await pi.waitFor(/kept: branch ultrathink\/in-gap/);
      expect(repo.read("a.txt", worktreeOf(repo, "in-gap"))).toBe("a\n");
      untouched();

      // while it is being named
      const tracesBefore = traces(repo);
      nextScript(home, { passes: [], slugs: [{ delayMs: 60_000, text: "too late" }] });
      await enter("/ultrathink Add a");
      await pi.waitFor(/naming the run/);
      await pi.keys("Escape");
      await pi.waitFor(/cancelled before anything was created/);
      expect(traces(repo)).toEqual(tracesBefore);

      // typed text, answered afterwards in the user's own checkout
      nextScript(home, { passes: [{ slowMs: 60_000 }, { text: "It is a shop." }], slugs: ['{"slug":"typed"}'] });
      await enter("/ultrathink Add a");
      await pi.waitFor(/v1 of up to 4 on ultrathink\/typed[\s\S]*$/);
      await pi.waitFor(/Scripted wait[\s\S]*v1 of up to 4/);
      await enter("What is this?");
      await pi.waitFor(/cancelled: you sent a message of your own[\s\S]*It is a shop\./);
      expect(requests(home).at(-1)).toMatchObject({ lastUser: "What is this?", cwd: repo.path });
      expect(kept(repo, "typed")).toEqual({ branch: false, worktree: false, locked: false });
      await enter("!pwd");
      await pi.waitFor(new RegExp(`^ *${repo.path}$`, "m"));
      untouched();

      // the end of the session
      nextScript(home, { passes: [working], slugs: ['{"slug":"quit"}'] });
      await enter("/ultrathink Add a");
      await pi.waitFor(/Scripted wait[\s\S]*on ultrathink\/quit/);
      await pi.keys("C-d");
      await expect.poll(() => pi.alive(), { timeout: 10_000 }).toBe(false);
      expect(kept(repo, "quit")).toEqual({ branch: true, worktree: true, locked: true });
      expect(existsSync(join(repo.path, ".git/ultrathink/lock"))).toBe(false);
      untouched();
    } finally {
      await pi.stop();
    }
  });
});
