import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { toBranchName, toOid, toWorktreePath } from "../../src/git/names.ts";
import type { KnownRun } from "../../src/run/known-runs.ts";
import { type PanelChoice, runsPanel } from "../../src/ui/runs-panel.ts";

function known(slug: string, status: KnownRun["status"]): KnownRun {
  const oid = toOid("1".repeat(40));
  const run = {
    id: slug,
    slug,
    branch: toBranchName(`ultrathink/${slug}`),
    worktree: toWorktreePath(`/home/me/shop.worktrees/${slug}`),
    original: toBranchName("main"),
    base: oid,
    originalTip: oid,
    task: "Make the retry logic honour Retry-After ".repeat(4),
    owner: { host: "here", pid: 1, start: "1" },
  };
  const rest = {
    startedAt: Date.now(),
    tip: oid,
    iterations: 2,
    landing: undefined,
    undo: undefined,
    owner: "gone",
  } as const;
  return { run, status, stop: { kind: "cancelled-by-interrupt" }, ...rest };
}

function panel(runs: readonly KnownRun[]) {
  const choices: PanelChoice[] = [];
  const names: Record<string, string> = { k: "tui.select.up", j: "tui.select.down", q: "tui.select.cancel" };
  const made = runsPanel(runs, {
    tui: { truncateToWidth, wrapTextWithAnsi },
    theme: { fg: (_color, text) => text },
    keybindings: { matches: (data, key) => names[data] === key },
    done: (choice) => choices.push(choice),
  });
  return { ...made, choices };
}

describe("the panel of runs", () => {
  const runs = [known("first-run", "preserved"), known("second-run", "landed")];

  for (const width of [40, 80, 200]) {
    test(`fits ${width} columns`, () => {
      for (const line of panel(runs).render(width)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
    });
  }

  test("shows the chosen run's details, and only the keys that apply to it", () => {
    const { render, handleInput } = panel(runs);
    expect(render(120).join("\n")).toMatch(
      /→ first-run[\s\S]*ended: cancelled: you interrupted it[\s\S]*r resume · l land · d discard · c copy path/,
    );
    handleInput("j");
    expect(render(120).join("\n")).toMatch(/→ second-run[\s\S]*u undo · c copy path · esc close/);
  });

  test("gives the run and the action of a key, and nothing for one that does not apply", () => {
    const { handleInput, choices } = panel(runs);
    handleInput("u");
    handleInput("l");
    handleInput("j");
    handleInput("j");
    handleInput("u");
    handleInput("q");
    expect(choices).toEqual([{ known: runs[0], action: "land" }, { known: runs[1], action: "undo" }, undefined]);
  });

  test("scrolls a long list", () => {
    const { render, handleInput } = panel(Array.from({ length: 30 }, (_, i) => known(`run-${i}`, "landed")));
    for (let i = 0; i < 20; i++) handleInput("j");
    expect(render(100).join("\n")).toMatch(/→ run-20[\s\S]*21 of 30/);
    expect(render(100).join("\n")).not.toContain("run-0 ");
  });
});
