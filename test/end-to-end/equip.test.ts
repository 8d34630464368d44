import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { startRpc } from "../support/pi-rpc.ts";
import { test } from "../support/repo.ts";
import { chosen, configure, prompt, status } from "../support/session-events.ts";
import { bash, homeOf, nothingLeft, traces, ultrathink, withLanded } from "../support/ultrathink.ts";

describe("a run as configured", () => {
  test("has the files asked for, was set up, and works where it was told to", async ({ repo }) => {
    repo.commit({ ".gitignore": "*.env\n.trees/\ndeps/\n", ".worktreeinclude": "*.env\n" });
    repo.write({ "a.env": "SECRET=1\n" });
    const before = repo.snapshot();
    const setup = 'mkdir deps && echo "set up in $PWD" > deps/log && echo installed';
    configure(repo, { ...chosen, setup, worktrees: "{parent}/{repo}/.trees/{slug}" });

    const passes = [{ steps: [[bash("cat a.env deps/log > out.txt && git status --short")]] }, nothingLeft];
    const { code, stdout, stderr } = await ultrathink(repo, { passes });

    expect(stdout).toContain("✔ landed on main by fast-forward");
    expect(stdout).toContain("ignored files of the worktree went with it: a.env, deps/");
    expect(stderr).toContain("copied in 1 ignored file (9 B)");
    const out = `SECRET=1\nset up in ${repo.path}/.trees/scripted-run\n`;
    expect(repo.snapshot()).toEqual(withLanded(repo, before, { "out.txt": out }));
    expect(readdirSync(join(repo.path, ".trees"))).toEqual([]);
    expect(code).toBe(0);
  });

  test("does not start when its set-up fails, and says what to do", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();
    configure(repo, { ...chosen, setup: "echo 'no such package' >&2; exit 7" });

    const { code, stdout, stderr, requests } = await ultrathink(repo, { passes: [nothingLeft] });

    expect(`${stdout}${stderr}`).toMatch(
      /the set-up command failed[\s\S]*exit code 7[\s\S]*no such package[\s\S]*setup in ~\/\.pi/,
    );
    expect(code).toBe(1);
    expect(requests.filter(({ pass }) => pass !== undefined)).toEqual([]);
    expect(repo.snapshot()).toEqual(before);
    expect(traces(repo).filter((trace) => trace.endsWith(".jsonl") || trace.includes("scripted-run"))).toEqual([]);
  });

  test("is taken back whole when a message steps in during its set-up", async ({ repo }) => {
    const before = repo.snapshot();
    configure(repo, { ...chosen, setup: "echo installing; sleep 600" });
    const pi = startRpc({ cwd: repo.path, home: homeOf(repo), script: { passes: [{ text: "Hello." }] } });
    try {
      await prompt(pi, "/ultrathink Add the files");
      await status(pi, /setting up… installing/);
      await prompt(pi, "wait, something else first");
      const told = "ultrathink: cancelled; the new worktree was taken back, nothing of it stays.";
      await pi.waitFor(({ message }) => message === told);
    } finally {
      await pi.stop();
    }
    expect(repo.snapshot()).toEqual(before);
    expect(traces(repo).filter((trace) => trace.endsWith(".jsonl") || trace.includes("scripted-run"))).toEqual([]);
  });
});
