import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { openRepository } from "../../src/git/repository.ts";
import { knownRuns } from "../../src/run/known-runs.ts";
import { recoverRuns } from "../../src/run/recover-runs.ts";
import type { RunReport } from "../../src/run/report.ts";
import { nextActions, recoveryLines } from "../../src/ui/runs.ts";
import { summary } from "../../src/ui/summary.ts";
import { type ScriptedEnd, scriptedRun } from "../support/scripted-run.ts";
import { type Built, build, type Scenario, scenarios } from "./scenario.ts";

const RUN_CHILD = fileURLToPath(new URL("../support/run-child.ts", import.meta.url));

interface Expected {
  readonly ending: RunReport["ending"]["kind"] | "refused";
  readonly stop?: RunReport["stop"]["kind"];
  /** Why the landing stopped. */
  readonly reason?: string;
  /** Must stand in what the user is told. */
  readonly says?: readonly (string | RegExp)[];
  readonly also?: (built: Built, end: ScriptedEnd) => void | Promise<void>;
}

function git(built: Built, ...args: string[]): string {
  return spawnSync("git", ["-C", join(built.base, "repo"), ...args], {
    env: built.plainEnv,
    encoding: "utf8",
  }).stdout.trim();
}

const landed = (says: Expected["says"] = [], also?: Expected["also"]): Expected => ({
  ending: "landed",
  stop: "no-git-changes",
  says,
  ...(also ? { also } : {}),
});
const preserved = (stop: NonNullable<Expected["stop"]>, ...says: (string | RegExp)[]): Expected => ({
  ending: "preserved",
  stop,
  says: ["kept: branch ultrathink/scripted-run", ...says],
});
const notLanded = (reason: string, ...says: (string | RegExp)[]): Expected => ({
  ...preserved("no-git-changes", "Nothing in your checkout changed", ...says),
  reason,
});
const parentsOf = (built: Built, revision: string) => git(built, "log", "-1", "--format=%P", revision).split(" ");

const EXPECTED: Readonly<Record<string, Expected>> = {
  "u01-dirty-start": landed(["3 uncommitted files are as they were"], (built) => {
    expect(git(built, "status", "--porcelain")).toBe("M a.txt\nA  staged.txt\n?? un.txt");
  }),
  "u02-user-edits-during-run": landed([], (built) => {
    expect(readFileSync(join(built.base, "repo/keep.txt"), "utf8")).toBe("USER EDIT\n");
    expect(readFileSync(join(built.base, "repo/.env.local"), "utf8")).toBe("SECRET=1\n");
    expect(git(built, "show", "main:keep.txt")).toBe("keep");
  }),
  "u04-agent-switches-then-main-moves": preserved("git-error", "no longer on its branch but on refs/heads/other"),
  "u05-agent-commits-itself": landed(["agent one", "agent two", "Scripted commit 1"]),
  "u06-agent-commits-on-main": landed(["by rebase and fast-forward"], (built) => {
    expect(git(built, "log", "--format=%s", "-2", "main")).toBe("Scripted commit 1\nagent on main");
  }),
  "u08-agent-stashes": preserved("git-error", /stash entry \([0-9a-f]{40}\)/),
  "u09-agent-deletes-branch": preserved("git-error", "detached HEAD", "Scripted commit 1"),
  "u10-agent-removes-worktree": {
    ...preserved("git-error", "its worktree is gone"),
    also: (built) => {
      expect(git(built, "worktree", "list")).not.toContain("scripted-run");
      expect(git(built, "show", "ultrathink/scripted-run:w.txt")).toBe("1");
    },
  },
  "u11-pre-commit-fails": {
    ...preserved("hook-rejected", "lint: w.txt has no header"),
    also: (_, { sent }) => expect(sent.slice(1).every((text) => text.includes("lint: w.txt has no header"))).toBe(true),
  },
  "u12-commit-msg-rejects-merge": notLanded("hook-rejected", "merge commits need a ticket"),
  "u13-post-commit-dirties": landed(["stamp.txt"], (_, { sent }) => expect(sent).toHaveLength(2)),
  "u14-gpgsign-no-key": preserved("git-error", "signing-failed", "1 file in that worktree not committed"),
  "u16-nested-init-empty": landed(["vendor/lib"], (built) => {
    expect(git(built, "ls-tree", "-r", "--name-only", "main")).not.toContain("vendor");
  }),
  "u17-unborn": { ending: "refused", says: ["make a first one"] },
  "u18-detached": { ending: "refused", says: ["HEAD is detached"] },
  "u19-main-moved-conflict-one-commit": notLanded("conflicted", "a.txt", "/ultrathink-runs resume scripted-run"),
  "u20-main-moved-conflict-two-commits": notLanded("conflicted", "a.txt", "/ultrathink-runs resume scripted-run"),
  "u21-target-checked-out-elsewhere": landed(["/else)"], (built) => {
    expect(readFileSync(join(built.base, "else/w.txt"), "utf8")).toBe("1\n");
  }),
  "u22-ignored-only": { ending: "nothing-to-land", stop: "no-git-changes", says: ["ignored files", "out/"] },
  "u24-tag-named-main": landed(),
  "u25-branch-named-ultrathink": { ending: "refused", says: ["branch ultrathink is in the way"] },
  "u30-unicode-newline-paths": landed([], (built) => {
    expect(git(built, "-c", "core.quotePath=false", "ls-tree", "-r", "-z", "--name-only", "main")).toContain(
      "new\nline.txt",
    );
  }),
  "u32-twohead-ours": landed(["with a merge commit"], (built) => expect(parentsOf(built, "main")).toHaveLength(2)),
  "u33-mergeoptions-squash": landed(),
  "u34-ignored-file-in-the-way": notLanded("would-overwrite-ignored", "secret.txt"),
  "u36-provider-error": preserved("agent-error", "529 overloaded", "1 file in that worktree not committed"),
  "u37-interrupt-with-edits": preserved("cancelled-by-interrupt", "1 file in that worktree not committed"),
  "u38-killed-between-passes": landed([], async (built) => {
    const repository = await openRepository(built.cwd, { env: built.plainEnv });
    const [second, first] = (await knownRuns(repository)).runs;
    expect([second?.status, first?.status]).toEqual(["landed", "interrupted"]);
    expect(second?.run.base).not.toBe(first?.tip);
    const recovery = await recoverRuns({ repository, env: built.plainEnv });
    expect(recoveryLines(recovery).join()).toContain("was interrupted and is kept");
    expect(first && nextActions(first)).toEqual(["resume", "land", "discard"]);
  }),
  "u39-two-sessions": landed(),
  "u40-rename-target-during-run": notLanded("branch-missing", "where it was: trunk"),
  "u41-target-force-moved-back": preserved(
    "git-error",
    "refs/heads/main was moved to",
    "back: git update-ref refs/heads/main",
  ),
  "u42-empty-after-rebase": landed(["already: it has the same changes"]),
  "u44-big-binary": landed(["larger than 50 MiB: big.bin"], (built) => {
    expect(git(built, "ls-tree", "-r", "--name-only", "main")).not.toContain("big.bin");
  }),
  "u45-agent-edits-gitattributes-filter": preserved(
    "git-error",
    "filter.evil.smudge was set in config",
    "core.hookspath was set",
    "--unset-all",
  ),
};

const held: string[] = [];
afterAll(() => console.log(`scenarios of whole runs held: ${held.length} of ${Object.keys(EXPECTED).length}`));

describe("a run in a hostile repository", () => {
  test("every scenario has its expectation", () => {
    expect(scenarios("u").map(({ name }) => name)).toEqual(Object.keys(EXPECTED));
  });

  for (const scenario of scenarios("u")) {
    test(`${scenario.name}: ${scenario.about} → ${scenario.expect}`, async () => {
      const built = build(scenario);
      try {
        for (const end of await runsOf(scenario, built)) await judge(scenario, built, end);
        const expected = EXPECTED[scenario.name]?.ending;
        expect(await built.problems(expected === "landed" || expected === "nothing-to-land" ? "ok" : "fail")).toEqual(
          [],
        );
        held.push(scenario.name);
      } finally {
        built.remove();
      }
    });
  }
});

/** Most scenarios are one run; `parallel` ones go on at the same time. */
async function runsOf(scenario: Scenario, built: Built): Promise<ScriptedEnd[]> {
  const {
    maxIterations = 4,
    parallel = 1,
    killAfter,
  } = JSON.parse(scenario.call.json) as {
    killAfter?: number;
    maxIterations?: number;
    parallel?: number;
  };
  if (killAfter !== undefined) await runAndKill(scenario, built);
  const passes = scenario.agent.map((text) => text.replace(/\s+# stopReason.*$/, ""));
  const runs = Array.from({ length: parallel }, (_, index) =>
    scriptedRun({
      cwd: built.cwd,
      env: { ...built.env, BASE: built.base, RUN: `${index + 1}` },
      passes,
      options: { max: maxIterations },
      slugs: [killAfter !== undefined ? "second-run" : parallel === 1 ? "scripted-run" : `scripted-run-${index + 1}`],
    }),
  );
  return Promise.all(runs);
}

/** A run in a process of its own, which its agent kills in the pass after the scenario's. */
function runAndKill({ agent }: Scenario, built: Built): Promise<void> {
  const passes = JSON.stringify([...agent, "kill -9 $PPID"]);
  const child = spawn(process.execPath, ["--import", "tsx", RUN_CHILD, built.cwd, passes], {
    env: built.env,
    stdio: "ignore",
  });
  return new Promise((resolve) => child.on("close", () => resolve()));
}

async function judge({ name }: Scenario, built: Built, end: ScriptedEnd): Promise<void> {
  const expected = EXPECTED[name];
  const { result } = end;
  const report = result.kind === "finished" ? result.report : undefined;
  const told = result.kind === "refused" ? result.message : report === undefined ? "" : summary(report);
  expect({ ending: report?.ending.kind ?? "refused", stop: report?.stop.kind }).toEqual({
    ending: expected?.ending,
    stop: expected?.stop,
  });
  if (expected?.reason) expect(report?.ending).toMatchObject({ reason: { kind: expected.reason } });
  for (const words of expected?.says ?? []) expect(told).toMatch(words);
  await expected?.also?.(built, end);
}
