import { existsSync, readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { host, requests } from "../support/hosts.ts";
import { isDialog, startRpc } from "../support/pi-rpc.ts";
import { test } from "../support/repo.ts";
import {
  chosen,
  configFile,
  configure,
  noStatus,
  noteText,
  prompt,
  status,
  summaryOf,
  thinking,
} from "../support/session-events.ts";
import {
  homeOf,
  kept,
  nextScript,
  nothingLeft,
  traces,
  withLanded,
  worktreeOf,
  writing,
} from "../support/ultrathink.ts";

describe("over RPC", () => {
  test("the naming model is chosen once, runs follow each other, and the session tells of them", async ({ repo }) => {
    configure(repo, { max: 3, future: { kept: true } });
    repo.makeDirty();
    const before = repo.snapshot();
    const home = homeOf(repo);
    const pi = startRpc({ home, cwd: repo.path });
    try {
      nextScript(home, { passes: [writing({ "a.txt": "a\n" }), { ...nothingLeft, slowMs: 700 }] });
      await prompt(pi, "/ultrathink Add a");
      const dialog = await pi.waitFor(isDialog);
      if (!isDialog(dialog)) throw new TypeError("no dialog");
      expect(dialog.title).toMatch(/names and commit messages/);
      expect(dialog.options?.[0]).toBe("scripted/agent");
      expect(traces(repo)).toEqual([]);
      pi.answer(dialog.id, { value: "scripted/naming" });

      await status(pi, /v1 committed/);
      await thinking(pi);
      await prompt(pi, "/ultrathink Something else");
      const refusal = await pi.waitFor((record) => record["method"] === "notify");
      expect(refusal["message"]).toBe(
        "ultrathink: a run is going on in this session already: wait for it, or press Escape to end it.",
      );
      expect(await summaryOf(pi)).toMatch(/^✔ landed on main by fast-forward/);
      await noStatus(pi);
      expect(JSON.parse(readFileSync(configFile(repo), "utf8"))).toEqual({ max: 3, future: { kept: true }, ...chosen });

      nextScript(home, { passes: [writing({ "b.txt": "b\n" }), nothingLeft, { text: "Hello." }] });
      await prompt(pi, "/ultrathink Add b");
      expect(await summaryOf(pi)).toMatch(/^✔ landed on main by fast-forward/);
      expect(repo.snapshot()).toEqual(withLanded(repo, before, { "a.txt": "a\n", "b.txt": "b\n" }));

      await noStatus(pi);
      await prompt(pi, "Where am I?");
      await expect.poll(() => requests(home).at(-1), { timeout: 10_000 }).toMatchObject({ lastUser: "Where am I?" });
      expect(requests(home).at(-1)?.cwd).toBe(repo.path);
      expect(pi.records.filter(isDialog)).toHaveLength(1);
      const named = requests(home).filter(({ kind }) => kind === "slug" || kind === "commit");
      expect(new Set(named.map(({ model }) => model))).toEqual(new Set(["naming"]));
      const notes = pi.records.flatMap((record) => noteText(record) ?? []);
      expect(notes.slice(0, 3).map((note) => note.replace(/[0-9a-f]{7}/g, "…"))).toEqual([
        "worktree ../repo.worktrees/scripted-run on ultrathink/scripted-run, from main …\n" +
          "4 uncommitted files stay in your checkout and are not part of this run\n" +
          "up to 3 iterations · sandbox: bubblewrap",
        "v1 committed … Scripted commit 1 (1 file, +1 −0)",
        "v2 changed nothing",
      ]);
    } finally {
      await pi.stop();
    }
  });

  test("what the user types, and an abort, end the run where it stands; the message is answered afterwards", async ({
    repo,
  }) => {
    configure(repo, chosen);
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    const untouched = () => expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
    const home = homeOf(repo);
    const pi = startRpc({ home, cwd: repo.path });
    const answered = (text: string) =>
      expect
        .poll(() => requests(home).findLast(({ kind }) => kind === "agent"), { timeout: 10_000 })
        .toMatchObject({
          lastUser: text,
          cwd: repo.path,
        });
    try {
      // in the middle of a turn, with work that is not committed
      const working = { ...writing({ "a.txt": "a\n" }), slowMs: 60_000 };
      nextScript(home, { passes: [working, { text: "A shop." }], slugs: ['{"slug":"turn"}'] });
      await prompt(pi, "/ultrathink Add a");
      await thinking(pi);
      await Promise.all([prompt(pi, "What is this?"), prompt(pi, "And why?")]);
      expect(await summaryOf(pi)).toMatch(/^✖ not landed .*\n {2}cancelled: you sent a message of your own/);
      await answered("What is this?\n\nAnd why?");
      expect(repo.read("a.txt", worktreeOf(repo, "turn"))).toBe("a\n");
      expect(kept(repo, "turn")).toEqual({ branch: true, worktree: true, locked: true });
      untouched();

      // between two turns, while the work is being committed
      const slowly = { delayMs: 60_000, text: "too late" };
      nextScript(home, {
        passes: [writing({ "a.txt": "a\n" }), { text: "A shop, still." }],
        slugs: ['{"slug":"gap"}'],
        commits: [slowly],
      });
      await prompt(pi, "/ultrathink Add a");
      await status(pi, /writing the commit message/);
      await prompt(pi, "Wait, what?");
      expect(await summaryOf(pi)).toMatch(/^✖ not landed/);
      await answered("Wait, what?");
      expect(repo.read("a.txt", worktreeOf(repo, "gap"))).toBe("a\n");
      untouched();

      // an abort in the middle of a turn in which nothing was done yet: nothing is kept
      nextScript(home, { passes: [{ slowMs: 60_000 }], slugs: ['{"slug":"abort"}'] });
      await prompt(pi, "/ultrathink Add a");
      await thinking(pi);
      await pi.send({ type: "abort" });
      expect(await summaryOf(pi)).toMatch(/^✖ nothing to land .*\n {2}cancelled: you interrupted it/);
      expect(kept(repo, "abort")).toEqual({ branch: false, worktree: false, locked: false });
      untouched();

      // while the run is being named: nothing is created
      nextScript(home, { passes: [{ text: "Sure." }], slugs: [slowly] });
      await prompt(pi, "/ultrathink Add a");
      await status(pi, /naming the run/);
      const tracesBefore = traces(repo);
      await prompt(pi, "Never mind.");
      await pi.waitFor(({ message }) => message === "ultrathink: cancelled before anything was created.");
      await answered("Never mind.");
      expect(traces(repo)).toEqual(tracesBefore);
      untouched();
      expect((await pi.quit()).code).toBe(0);
    } finally {
      await pi.stop();
    }
  });

  test("what the user types while a dialog is open takes the dialog away and starts nothing", async ({ repo }) => {
    const home = homeOf(repo);
    const pi = startRpc({ home, cwd: repo.path, script: { passes: [{ text: "Hello." }] } });
    try {
      await prompt(pi, "/ultrathink Add a");
      await pi.waitFor(isDialog);
      await prompt(pi, "Hello?");
      await pi.waitFor(({ message }) => message === "ultrathink: cancelled before anything was created.");
      await expect.poll(() => requests(home).map(({ lastUser }) => lastUser), { timeout: 10_000 }).toEqual(["Hello?"]);

      await prompt(pi, "/ultrathink Add a");
      const dialog = await pi.waitFor(isDialog);
      pi.answer(String(dialog["id"]), { cancelled: true });
      await pi.waitFor(({ message }) => `${message}`.includes("no naming model was chosen, so nothing was started."));
      expect(traces(repo)).toEqual([]);

      // with --yes no dialog opens: the session's own model names this run, and nothing is remembered
      nextScript(home, { passes: [writing({ "a.txt": "a\n" })] });
      await prompt(pi, "/ultrathink --yes --max 1 Add a");
      expect(await summaryOf(pi)).toMatch(/^✔ landed on main .* · 1 iteration /);
      expect(pi.records.filter(isDialog)).toHaveLength(2);
      expect(requests(home).find(({ kind }) => kind === "slug")?.model).toBe("agent");
      expect(existsSync(configFile(repo))).toBe(false);
    } finally {
      await pi.stop();
    }
  });

  test.runIf(host.name === "current")("an abort between two turns ends the run", async ({ repo }) => {
    configure(repo, chosen);
    const passes = [writing({ "a.txt": "a\n" }), { text: "must not be asked for" }];
    const script = { passes, commits: [{ delayMs: 60_000, text: "too late" }] };
    const pi = startRpc({ home: homeOf(repo), cwd: repo.path, script });
    try {
      await prompt(pi, "/ultrathink Add a");
      await status(pi, /writing the commit message/);
      await pi.send({ type: "abort" });
      expect(await summaryOf(pi)).toMatch(/cancelled: you interrupted it/);
      await prompt(pi, "And now?");
      await expect.poll(() => requests(homeOf(repo)).at(-1)?.lastUser, { timeout: 10_000 }).toBe("And now?");
    } finally {
      await pi.stop();
    }
  });
});
