import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { requests } from "../support/hosts.ts";
import { startPrint } from "../support/pi-print.ts";
import { startRpc } from "../support/pi-rpc.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { chosen, configure, noteText, prompt, summaryOf, thinking } from "../support/session-events.ts";
import { homeOf, kept, nextScript, nothingLeft, worktreeOf, writing } from "../support/ultrathink.ts";

const working = { ...writing({ "a.txt": "a\n" }), slowMs: 60_000 };

function expectKept(repo: TestRepo, before: object, slug?: string): void {
  expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
  expect(kept(repo, slug)).toEqual({ branch: true, worktree: true, locked: true });
  expect(existsSync(join(repo.path, ".git/ultrathink/lock"))).toBe(false);
  expect(readdirSync(join(repo.path, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
}

/** What the run's journal says of its end. */
function stops(repo: TestRepo): string[] {
  const folder = join(repo.path, ".git/ultrathink/runs");
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").trim().split("\n"));
  const records = lines.map((line) => JSON.parse(line) as { record: { type: string; stop?: { kind: string } } });
  return records.flatMap(({ record }) => (record.type === "stopped" && record.stop ? record.stop.kind : []));
}

describe("a run whose Pi ends keeps its branch and worktree, and leaves the checkout alone", () => {
  test.for([
    { signal: "SIGTERM", exit: { code: 143, signal: null }, stopped: ["session-ended"] },
    { signal: "SIGINT", exit: { code: null, signal: "SIGINT" }, stopped: [] }, // both hosts die of it on the spot
  ] as const)("by $signal", async ({ signal, exit, stopped }, { repo }) => {
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    const home = homeOf(repo);
    const pi = startPrint({ home, cwd: repo.path, script: { passes: [working] }, prompt: "/ultrathink Add a" });
    try {
      await expect.poll(() => existsSync(join(worktreeOf(repo), "a.txt")), { timeout: 20_000 }).toBe(true);
      pi.kill(signal);
      expect(await pi.result()).toMatchObject(exit);
      expectKept(repo, before);
      expect(repo.read("a.txt", worktreeOf(repo))).toBe("a\n");
      expect(stops(repo)).toEqual(stopped);
    } finally {
      await pi.stop();
    }
  });

  test("by a new session, which can start the next one, and by the client's end", async ({ repo }) => {
    configure(repo, chosen);
    repo.makeDirty();
    const before = { ...repo.snapshot(), main: repo.tip("main") };
    const home = homeOf(repo);
    const pi = startRpc({ home, cwd: repo.path });
    try {
      nextScript(home, { passes: [{ slowMs: 60_000 }], slugs: ['{"slug":"first"}'] }); // nothing is written yet
      await prompt(pi, "/ultrathink Add a");
      await thinking(pi);
      await pi.send({ type: "new_session" });
      expectKept(repo, before, "first");

      nextScript(home, { passes: [{ text: "Here." }, working], slugs: ['{"slug":"second"}'] });
      await prompt(pi, "Where am I?");
      await expect.poll(() => requests(home).at(-1)?.lastUser, { timeout: 10_000 }).toBe("Where am I?");
      expect(requests(home).at(-1)?.cwd).toBe(repo.path);
      await prompt(pi, "/ultrathink Add a");
      await thinking(pi);
      expect(await pi.quit()).toEqual({ code: 0, signal: null });
      expectKept(repo, before, "second");
      expect(repo.read("a.txt", worktreeOf(repo, "second"))).toBe("a\n");
      expect(stops(repo)).toEqual(["session-ended", "session-ended"]);
      expect(pi.records.filter(({ type }) => type === "extension_error")).toEqual([]);
    } finally {
      await pi.stop();
    }
  });
});

describe("a compaction", () => {
  /** Every answer is more than the context may hold. */
  const settings = { compaction: { enabled: true, reserveTokens: 127_990, keepRecentTokens: 1 } };

  test("after each turn neither loses a message nor sends one twice", async ({ repo }) => {
    configure(repo, chosen);
    const passes = [writing({ "a.txt": "a\n" }), writing({ "b.txt": "b\n" }), nothingLeft];
    const pi = startRpc({ home: homeOf(repo), cwd: repo.path, settings, script: { passes } });
    try {
      await prompt(pi, "/ultrathink Add a and b");
      expect(await summaryOf(pi)).toMatch(/^✔ landed on main with a merge commit, .* · 2 commits · 3 iterations/);
      const compactions = pi.records.filter(({ type }) => type === "compaction_end");
      expect(compactions.length).toBeGreaterThanOrEqual(2);
      const sent = requests(homeOf(repo)).filter(
        ({ kind, toolResults }) => kind === "agent" && toolResults.length === 0,
      );
      expect(sent.map(({ pass }) => pass)).toEqual([0, 1, 2]);
    } finally {
      await pi.stop();
    }
  });

  test("that the user asks for in the middle of a turn ends the run; Pi works on", async ({ repo }) => {
    configure(repo, chosen);
    const home = homeOf(repo);
    const pi = startRpc({ home, cwd: repo.path, settings: { compaction: { enabled: true, keepRecentTokens: 1 } } });
    try {
      nextScript(home, { passes: [{ text: "Hello." }, { text: "Again." }, working, { text: "Still here." }] });
      for (const message of ["Hello?", "And again?"]) {
        await prompt(pi, message);
        await pi.waitFor(({ type }) => type === "agent_end");
      }
      await prompt(pi, "/ultrathink Add a");
      await thinking(pi);
      await pi.send({ type: "compact" });
      expect(await summaryOf(pi)).toMatch(/^✖ not landed .*\n {2}cancelled: you interrupted it/);
      expect(kept(repo)).toEqual({ branch: true, worktree: true, locked: true });
      await prompt(pi, "Are you there?");
      await expect.poll(() => requests(home).at(-1)?.lastUser, { timeout: 10_000 }).toBe("Are you there?");
      expect(requests(home).at(-1)?.cwd).toBe(repo.path);
      expect(pi.records.flatMap((record) => noteText(record) ?? []).at(-1)).toMatch(/^✖/);
    } finally {
      await pi.stop();
    }
  });
});
