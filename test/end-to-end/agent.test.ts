import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { quote } from "../../src/isolation/redirect.ts";
import { TestRepo, test } from "../support/repo.ts";
import { configure } from "../support/session-events.ts";
import { bash, kept, nothingLeft, ultrathink, worktreeOf, write, writing } from "../support/ultrathink.ts";

const foreignTool = fileURLToPath(new URL("../support/foreign-tool.ts", import.meta.url));

describe("the agent of a run", () => {
  test("is kept in the worktree, at the user's subdirectory, by every way out that its tools offer", async ({
    repo,
  }) => {
    repo.commit({ "lib/old.txt": "old\n", ".gitignore": "*.secret\n" });
    repo.write({ "lib/key.secret": "s3cret\n", "lib/mine.txt": "mine\n" });
    const before = repo.snapshot();
    const worktree = worktreeOf(repo);
    const foreign = { tool: "foreign_write", arguments: { path: "foreign.txt", text: "no\n" } };

    const { code, requests } = await ultrathink(
      repo,
      {
        passes: [
          {
            steps: [
              [
                write("relative.txt", "1\n"),
                write("$MAIN/absolute.txt", "2\n"),
                write("../../../repo/dots.txt", "3\n"),
              ],
              [
                bash("pwd; echo 4 > $MAIN/shell.txt"),
                bash("cd $MAIN && pwd"),
                bash("git -C $MAIN rev-parse --show-toplevel"),
              ],
              [bash("ln -s ../../../repo/lib link")],
              [write("link/through.txt", "5\n")],
              [bash("rm link")],
              [bash("rm $MAIN/old.txt")],
              [{ tool: "read", arguments: { path: "old.txt" } }],
              [{ tool: "read", arguments: { path: "key.secret" } }, foreign],
              [bash("git add -A && git commit -qm 'By the agent'")],
            ],
          },
          nothingLeft,
        ],
      },
      { cwd: join(repo.path, "lib"), extensions: [foreignTool] },
    );

    const results = requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text.trim()));
    expect(results).toContain(`${worktree}/lib`);
    expect(results).toContain(worktree);
    expect(results).toContain("s3cret"); // ignored: only the user's checkout has it
    expect(results).toContainEqual(expect.stringContaining("ENOENT")); // deleted by the run: not read from the checkout
    expect(results).toContainEqual(expect.stringMatching(/foreign_write cannot be kept inside .* allowTools/));
    const agent = requests.filter(({ kind }) => kind === "agent");
    expect(new Set(agent.map(({ cwd }) => cwd))).toEqual(new Set([`${worktree}/lib`]));

    expect(code).toBe(0);
    expect(repo.git("log", "-1", "--format=%s", "--name-status")).toBe(
      "By the agent\n\nA\tdots.txt\nA\tlib/absolute.txt\nD\tlib/old.txt\nA\tlib/relative.txt\nA\tlib/shell.txt\nA\tlib/through.txt",
    );
    const { "file lib/key.secret": key, "file lib/mine.txt": mine } = repo.snapshot();
    expect({ key, mine }).toEqual({ key: before["file lib/key.secret"], mine: before["file lib/mine.txt"] });
  });

  test("works where the name of the checkout is as odd as can be", async () => {
    const repo = new TestRepo('it\'s $& `ünï` "code"');
    const main = quote(repo.path);
    try {
      const { code, requests } = await ultrathink(repo, {
        passes: [{ steps: [[write("$MAIN/a.txt", "a\n")], [bash(`cd ${main} && pwd > b.txt`)]] }, nothingLeft],
      });
      expect(repo.read("b.txt")).toBe(`${worktreeOf(repo)}\n`);
      expect(repo.read("a.txt")).toBe("a\n");
      const agent = requests.filter(({ kind }) => kind === "agent");
      expect(new Set(agent.map(({ cwd }) => cwd))).toEqual(new Set([worktreeOf(repo)]));
      expect(code).toBe(0);
    } finally {
      repo.remove();
    }
  });

  test("may use a foreign tool that is allowed, and sees why a hook rejects its work", async ({ repo }) => {
    configure(repo, { allowTools: ["foreign_write"] });
    repo.hook("pre-commit", 'grep -q todo a.txt && { echo "a.txt: finish the todo" >&2; exit 1; }; exit 0');
    const foreign = { tool: "foreign_write", arguments: { path: "foreign.txt", text: "allowed\n" } };

    const { code, requests } = await ultrathink(
      repo,
      {
        passes: [
          { steps: [[write("a.txt", "todo\n"), foreign]] },
          { steps: [[write("a.txt", "done\n")]] },
          nothingLeft,
        ],
      },
      { extensions: [foreignTool] },
    );

    const told = requests.filter(({ kind }) => kind === "agent").map(({ lastUser }) => lastUser);
    expect(told).toContainEqual(expect.stringMatching(/commit hook rejected[\s\S]*a\.txt: finish the todo/));
    expect(repo.read("foreign.txt")).toBe("allowed\n"); // where its author put it: the user's checkout
    expect(repo.git("show", "main:a.txt")).toBe("done");
    expect(code).toBe(0);
  });

  test("stops at a hook that always rejects; its work is kept, not committed", async ({ repo }) => {
    repo.hook("commit-msg", 'echo "no ticket" >&2; exit 1');
    const main = repo.tip("main");

    const { code, stdout, requests } = await ultrathink(repo, {
      passes: [writing({ "a.txt": "1\n" }), writing({ "a.txt": "2\n" }), writing({ "a.txt": "3\n" })],
    });

    expect(requests.filter(({ kind, toolResults }) => kind === "agent" && toolResults.length === 0)).toHaveLength(3);
    expect(stdout).toContain("a commit hook rejected the work: no ticket");
    expect(stdout).toContain("1 file in that worktree not committed yet");
    expect(kept(repo)).toEqual({ branch: true, worktree: true, locked: true });
    expect(repo.read("a.txt", worktreeOf(repo))).toBe("3\n");
    expect(repo.tip("main")).toBe(main);
    expect(code).toBe(1);
  });

  test("goes on after provider errors that the host retries; no message is lost or sent twice", async ({ repo }) => {
    const retried = { message: "503 service unavailable", times: 2 };
    const { code, requests } = await ultrathink(repo, {
      passes: [
        { ...writing({ "a.txt": "a\n" }), error: { ...retried, afterSteps: 1 } },
        { ...writing({ "b.txt": "b\n" }), error: retried },
        { ...nothingLeft, error: retried },
      ],
    });

    // Each pass: two failures, its steps, its text; a pass begins with a user message that was not there before.
    const passes = requests.filter(({ kind }) => kind === "agent").map(({ pass }) => pass);
    expect(passes).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]);
    expect(repo.git("log", "--format=%s", "main^2", "--not", "main^1")).toBe("Scripted commit 2\nScripted commit 1");
    expect(code).toBe(0);
  });

  test("that fails for good ends the run; what it had committed and written is kept", async ({ repo }) => {
    const before = repo.snapshot();

    const { code, stdout } = await ultrathink(repo, {
      passes: [
        writing({ "a.txt": "a\n" }),
        { ...writing({ "b.txt": "b\n" }), error: { message: "503 no such luck", times: 9, afterSteps: 1 } },
      ],
    });

    expect(stdout).toContain("the agent failed: 503 no such luck");
    expect(stdout).toContain("kept: branch ultrathink/scripted-run (1 commit)");
    expect(repo.read("b.txt", worktreeOf(repo))).toBe("b\n");
    expect(repo.snapshot()).toEqual(before);
    expect(code).toBe(1);
  });
});

describe("the naming model", () => {
  test("is asked again when its reply is malformed or its slug taken", async ({ repo }) => {
    repo.git("branch", "ultrathink/taken");
    mkdirSync(`${repo.path}.worktrees/in-the-way`, { recursive: true });

    const { code, requests, stdout } = await ultrathink(repo, {
      passes: [writing({ "a.txt": "a\n" }), nothingLeft],
      slugs: [
        "Sure!",
        '{"slug":"Taken"}',
        '{"slug":"taken"}',
        '{"slug":"in-the-way"}',
        '```json\n{"slug":"free"}\n```',
      ],
      commits: ["{}", "nonsense", '{"subject":"Add a","body":""}'],
    });

    const slugs = requests.filter(({ kind }) => kind === "slug").map(({ lastUser }) => lastUser);
    expect(slugs).toHaveLength(5);
    expect(slugs.at(-1)).toContain("Taken already, choose another: taken, in-the-way");
    expect(stdout).toContain("from ultrathink/free onto main");
    expect(repo.git("log", "-1", "--format=%B", "main")).toBe("Add a");
    expect(code).toBe(0);
  });

  test("that fails for good does not stop the work, which is then kept and not landed", async ({ repo }) => {
    const main = repo.tip("main");
    const down = { error: "401 wrong key" };

    const { code, stdout } = await ultrathink(repo, {
      passes: [writing({ "a.txt": "a\n" }), writing({ "b.txt": "b\n" }), nothingLeft],
      slugs: [down],
      commits: [down],
    });

    expect(stdout).toContain("the naming model failed: 401 wrong key");
    const plain = (iteration: number) => `ultrathink: iteration ${iteration} (no message from the naming model)`;
    expect(repo.git("log", "--format=%s", "ultrathink/add-the-files", "^main")).toBe(`${plain(2)}\n${plain(1)}`);
    expect(kept(repo, "add-the-files")).toEqual({ branch: true, worktree: true, locked: true });
    expect(repo.tip("main")).toBe(main);
    expect(code).toBe(1);
  });
});
