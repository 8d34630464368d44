import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { startTmux } from "../support/pi-tmux.ts";
import { type TestRepo, test } from "../support/repo.ts";
import {
  bash,
  homeOf,
  nextScript,
  nothingLeft,
  traces,
  ultrathink,
  withLanded,
  worktreeOf,
  writing,
} from "../support/ultrathink.ts";

/** The checkout by a name that only the command finds out, so that redirection cannot. */
const CHECKOUT = 'main=$(git worktree list --porcelain | sed -n "1s/^worktree //p")';
const READ_ONLY = /Read-only file system|Device or resource busy|Unable to write new index|Cannot save/;

function configure(repo: TestRepo, config: object): void {
  mkdirSync(join(homeOf(repo), ".pi"), { recursive: true });
  const naming = { provider: "scripted", modelId: "naming" };
  writeFileSync(join(homeOf(repo), ".pi/ultrathink.json"), JSON.stringify({ naming, ...config }));
}

/** PATH with a `bwrap` before the real one that works as it does in most containers: not at all. */
function pathWithoutNamespaces(repo: TestRepo): string {
  const folder = join(repo.base, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n");
  chmodSync(join(folder, "bwrap"), 0o755);
  return `${folder}:${process.env["PATH"]}`;
}

describe("the commands of a run", () => {
  test("are confined: what gets past redirection fails, the work goes on and lands", async ({ repo }) => {
    repo.makeDirty();
    repo.git("branch", "topic");
    const before = repo.snapshot();
    const escapes = [
      'echo x > "$main/new"',
      'cd "$main" && echo x > untracked.txt',
      'git -C "$main" commit --quiet --all --message=x',
      'GIT_DIR="$main/.git" GIT_WORK_TREE="$main" git add --all',
      "git branch --force topic HEAD~1",
      "git config core.hooksPath /tmp",
      'echo "exit 1" > "$main/.git/hooks/pre-commit"',
      "echo s > README.md; git stash; git restore README.md",
      'rm -rf "$main"/*',
    ];
    const late = join(repo.base, "late");

    const { code, stdout, requests } = await ultrathink(repo, {
      passes: [
        {
          steps: [
            escapes.map((attempt) => bash(`${CHECKOUT}; ${attempt}`)),
            [bash(`(sleep 1; touch ${late}) & setsid sh -c 'sleep 1; touch ${late}' & echo started`)],
            [
              bash(
                'echo "it\'s $HOME" > a.txt\ncat <<X >> a.txt\nheredoc\nX\ngit add a.txt && git commit -qm "By the agent"',
              ),
            ],
            [bash("exit 3"), bash("kill -9 $$")],
          ],
        },
        nothingLeft,
      ],
    });

    const results = requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    expect(results.filter((text) => READ_ONLY.test(text))).toHaveLength(escapes.length);
    expect(results).toContainEqual(expect.stringMatching(/^started/));
    expect(results).toContainEqual(expect.stringContaining("exited with code 3"));
    expect(results).toContainEqual(expect.stringContaining("exited with code 137"));
    expect(stdout).toContain("  sandbox: bubblewrap\n");
    expect(stdout).not.toContain("changed meanwhile");
    expect(repo.read("a.txt")).toBe(`it's ${homeOf(repo)}\nheredoc\n`);
    expect(repo.snapshot()).toEqual(withLanded(repo, before, { "a.txt": repo.read("a.txt") }));
    expect(repo.git("log", "-1", "--format=%s", "main")).toBe("By the agent");
    expect(existsSync(late)).toBe(false);
    expect(code).toBe(0);
  });

  test("have no network when the configuration says so", async ({ repo }) => {
    configure(repo, { sandboxNetwork: false });
    const { stdout, requests } = await ultrathink(repo, {
      passes: [{ steps: [[bash("ls /sys/class/net; cat /proc/net/dev | wc -l")]] }],
    });
    expect(requests.flatMap(({ toolResults }) => toolResults)).toMatchObject([
      { text: expect.stringMatching(/3\n?$/) },
    ]);
    expect(stdout).toContain("  sandbox: bubblewrap (no network)\n");
  });

  test("are redirected only where no sandbox works, and that is said", async ({ repo }) => {
    const PATH = pathWithoutNamespaces(repo);
    const { code, stdout } = await ultrathink(
      repo,
      { passes: [{ steps: [[bash("echo a > a.txt")]] }, nothingLeft] },
      { env: { PATH } },
    );
    expect(stdout).toContain(
      "  no sandbox (bubblewrap does not work here (bwrap: No permissions)): file tools and shells are redirected\n",
    );
    expect(repo.read("a.txt")).toBe("a\n");
    expect(code).toBe(0);
  });

  test("are not let loose where a sandbox is required and none works: there is no run", async ({ repo }) => {
    configure(repo, { sandbox: "require" });
    const PATH = pathWithoutNamespaces(repo);
    const { code, stdout, stderr } = await ultrathink(repo, { passes: [] }, { env: { PATH } });
    expect(stdout + stderr).toMatch(
      /sandbox is required .* bubblewrap does not work here .*: nothing was started\. Next: /,
    );
    expect(traces(repo)).toEqual([]);
    expect(code).toBe(1);
  });

  test("and the user's own are confined alike", async ({ repo }) => {
    repo.makeDirty();
    configure(repo, {});
    const before = repo.snapshot();
    const home = homeOf(repo);
    const pi = await startTmux({ home, cwd: repo.path });
    try {
      nextScript(home, { passes: [{ ...writing({ "a.txt": "a\n" }), slowMs: 60_000 }] });
      await pi.type("/ultrathink Add a");
      await pi.waitFor(/\/ultrathink Add a/);
      await pi.keys("Enter");
      expect(await pi.waitFor(/Scripted wait/)).toContain("sandbox: bubblewrap");
      await pi.type("!pwd; cat a.txt; git tag mine || echo refused");
      await pi.keys("Enter");
      const screen = await pi.waitFor(/^ *refused$/m);
      expect(screen).toContain(worktreeOf(repo));
      expect(screen).toContain("Read-only file system");
      await pi.keys("Escape");
      await pi.waitFor(/✖ not landed/);
      expect(repo.snapshot()).toEqual(before);
    } finally {
      await pi.stop();
    }
  });
});
