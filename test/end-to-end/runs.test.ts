import { existsSync } from "node:fs";
import { expect } from "vitest";
import { startTmux } from "../support/pi-tmux.ts";
import { test } from "../support/repo.ts";
import { bash, command, homeOf, nothingLeft, ultrathink, worktreeOf, writing } from "../support/ultrathink.ts";

test("/ultrathink-runs shows a kept run, lands it and takes it back", async ({ repo }) => {
  repo.makeDirty();
  const before = { ...repo.snapshot(), main: repo.tip("main") };
  const script = { passes: [writing({ "a.txt": "a\n" }), nothingLeft] };
  const { code } = await ultrathink(repo, script, { args: "--land none" });
  expect(code).toBe(0);

  expect(await command(repo, "/ultrathink-runs")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^scripted-run {2}preserved {2}0m ago {2}1 commit {2}ultrathink\/scripted-run → main$/m,
    ),
  });
  const json = await command(repo, "/ultrathink-runs --json");
  expect(JSON.parse(json.stdout)).toMatchObject({ runs: [{ status: "preserved", run: { slug: "scripted-run" } }] });

  const landed = await command(repo, "/ultrathink-runs land scripted-run");
  expect(landed).toMatchObject({ code: 0, stdout: expect.stringContaining("landed scripted-run on main") });
  expect(repo.read("a.txt")).toBe("a\n");
  expect(existsSync(worktreeOf(repo))).toBe(false);

  const again = await command(repo, "/ultrathink-runs land scripted-run");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("scripted-run is landed") });

  const undone = await command(repo, "/ultrathink-runs undo scripted-run");
  expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining("undone: main is back at") });
  expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
});

test("/ultrathink-runs resume hands the conflict to the agent, and lands what it resolves", async ({ repo }) => {
  const base = repo.commit({ "a.txt": "1\n" });
  repo.commit({ "a.txt": "main's\n" });
  repo.makeDirty();
  const before = repo.git("status", "--porcelain");
  const stopped = await ultrathink(
    repo,
    { passes: [writing({ "a.txt": "run's\n" }), nothingLeft] },
    { args: `--base ${base}` },
  );
  expect(stopped).toMatchObject({ code: 1, stdout: expect.stringContaining("/ultrathink-runs resume scripted-run") });

  const merge = "git merge main; printf 'both\\n' > a.txt; git add a.txt; git commit -qm 'Merge main'";
  const script = { passes: [{ steps: [[bash(merge)]], text: "Resolved." }, nothingLeft] };
  const resumed = await command(repo, "/ultrathink-runs resume scripted-run", script);

  expect(resumed.stdout).toContain("✔ landed on main with a merge commit");
  expect(resumed.code).toBe(0);
  expect(repo.read("a.txt")).toBe("both\n");
  expect(repo.git("status", "--porcelain")).toBe(before);
});

test("the panel in the terminal shows the runs, and a key takes one back", async ({ repo }) => {
  repo.makeDirty();
  const before = { ...repo.snapshot(), main: repo.tip("main") };
  await ultrathink(repo, { passes: [writing({ "a.txt": "a\n" }), nothingLeft] });
  const terminal = await startTmux({ cwd: repo.path, home: homeOf(repo), size: { columns: 100, rows: 40 } });
  try {
    await terminal.type("/ultrathink-runs");
    await terminal.keys("Enter");
    await terminal.waitFor(/→ scripted-run {2}landed[\s\S]*u undo · c copy path/);
    await terminal.keys("u");
    await terminal.waitFor(/undone: main is back at/);
  } finally {
    await terminal.stop();
  }
  expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
});
