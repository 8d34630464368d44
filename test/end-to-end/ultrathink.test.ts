import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { requests } from "../support/hosts.ts";
import { piPrint } from "../support/pi-print.ts";
import { type TestRepo, test } from "../support/repo.ts";
import type { Script } from "../support/script.ts";

function write(path: string, content: string) {
  return { tool: "write", arguments: { path, content } };
}

async function run(repo: TestRepo, script: Script, prompt = "Add the files") {
  const home = join(repo.base, "home");
  mkdirSync(home, { recursive: true });
  const result = await piPrint({ cwd: repo.path, home, script, prompt: `/ultrathink ${prompt}` });
  return { ...result, requests: requests(home) };
}

describe("a run in print mode", () => {
  test("of one commit is rebased onto a dirty checkout", async ({ repo }) => {
    repo.makeDirty();
    const before = repo.snapshot();

    const result = await run(repo, { passes: [{ steps: [[write("a.txt", "a\n")]] }, { text: "Nothing left." }] });

    expect(result.stderr).toContain("v1 committed");
    expect(result.stdout).toContain("✔ landed on main by fast-forward");
    expect(result.code).toBe(0);
    expect(repo.read("a.txt")).toBe("a\n");
    const { index: _, "file a.txt": __, ...after } = repo.snapshot();
    const { index: ___, ...expected } = before;
    expect(after).toEqual(expected);
    expect(repo.git("branch", "--list", "ultrathink/*")).toBe("");
    expect(existsSync(`${repo.path}.worktrees/scripted-run`)).toBe(false);
  });
});
