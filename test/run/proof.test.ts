import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { summary } from "../../src/ui/summary.ts";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

/** One pass that writes a file and does `mischief`; what the user is told, and whether it landed. */
async function run(repo: TestRepo, mischief: string) {
  const { result } = await scriptedRun({ cwd: repo.path, env: repo.env(), passes: [`echo 1 > work.txt\n${mischief}`] });
  if (result.kind !== "finished") throw new Error(JSON.stringify(result));
  return { told: summary(result.report), ending: result.report.ending.kind };
}

/** The commands that the summary names, run as a person would. */
function followTheWayBack(repo: TestRepo, told: string): void {
  const commands = [...told.matchAll(/^ *back: (.*)$/gm)].map(([, command = ""]) => command);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) repo.shell(command);
}

describe("what only the user may change stops the run, with the way back", () => {
  for (const [what, mischief, says] of [
    [
      "a hook",
      "printf '#!/bin/sh\\n' > $MAIN/.git/hooks/post-checkout; chmod +x $MAIN/.git/hooks/post-checkout",
      "hooks/post-checkout was added",
    ],
    ["a changed hook", "echo evil >> $MAIN/.git/hooks/commit-msg", "hooks/commit-msg was changed or removed"],
    ["attributes", "echo '* filter=evil' > $MAIN/.git/info/attributes", "info/attributes was added"],
    ["a filter", "git config filter.evil.smudge evil", "filter.evil.smudge was set in config"],
    ["the hooks' folder", "git config core.hooksPath /elsewhere", "core.hookspath was set in config"],
    ["an alias", "git config alias.st '!evil'", "alias.st was ls in config"],
    ["a branch", "git update-ref -d refs/heads/other", "refs/heads/other was deleted"],
    ["a rewritten branch", "git update-ref refs/heads/other HEAD~1", "refs/heads/other was moved to"],
    ["a tag", "git tag -d v1", "refs/tags/v1 was deleted"],
    ["a stash entry", "git stash drop -q", "refs/stash was deleted"],
  ] as const) {
    test(`${what}`, async ({ repo }) => {
      repo.commit({ "a.txt": "1\n" });
      repo.git("branch", "other");
      repo.git("tag", "v1");
      repo.git("config", "alias.st", "ls");
      repo.write({ "a.txt": "stashed\n" });
      repo.git("stash", "--quiet");
      const hook = join(repo.path, ".git/hooks/commit-msg");
      writeFileSync(hook, "#!/bin/sh\nexit 0\n");
      chmodSync(hook, 0o755);
      const shared = () => ({
        refs: repo.git("for-each-ref", "refs/heads/main", "refs/heads/other", "refs/tags", "refs/stash"),
        config: repo.git("config", "--local", "--list"),
        hook: repo.read(".git/hooks/commit-msg"),
        added: existsSync(join(repo.path, ".git/hooks/post-checkout")),
        attributes: existsSync(join(repo.path, ".git/info/attributes")),
      });
      const before = shared();

      const { told, ending } = await run(repo, mischief.replaceAll("$MAIN", repo.path));

      expect(ending).toBe("preserved");
      expect(told).toContain(says);
      followTheWayBack(repo, told);
      expect(shared()).toEqual(before);
      expect(repo.read("work.txt", `${repo.path}.worktrees/scripted-run`)).toBe("1\n");
    });
  }

  test("a repository marked bare is healed, and the rest goes on", async ({ repo }) => {
    const { ending } = await run(repo, "git config core.bare true");
    expect(ending).toBe("landed");
    expect(repo.git("config", "--bool", "core.bare")).toBe("false");
  });
});

describe("what the user does in a run's time is told, and does not stop it", () => {
  test("edits, commits, branches, tags, stash entries and switches", async ({ repo }) => {
    repo.commit({ "a.txt": "1\n", "b.txt": "1\n" });
    const user = [
      `cd '${repo.path}'`,
      "echo mine > b.txt; git stash -q; echo edited > a.txt; git commit -qam mine",
      "git branch idea; git tag v2; echo new > untracked.txt; git config user.nickname me",
    ];

    const { told, ending } = await run(repo, user.join("\n"));

    expect(ending, told).toBe("landed");
    expect(told).toContain("changed meanwhile, by you or by a command:");
    for (const line of ["main moved from", "refs/heads/idea is new", "refs/tags/v2 is new", "refs/stash is new"]) {
      expect(told).toContain(line);
    }
    expect(repo.read("work.txt")).toBe("1\n");
    expect(repo.read("untracked.txt")).toBe("new\n");
  });

  test("a file that was dirty before and is edited again is named", async ({ repo }) => {
    repo.makeDirty();
    const { told, ending } = await run(repo, `echo again > '${repo.path}/unstaged.txt'`);
    expect(ending).toBe("landed");
    expect(told).toContain("files in your checkout: unstaged.txt");
  });

  test("nothing is told when nothing changed", async ({ repo }) => {
    repo.makeDirty();
    const { told } = await run(repo, "");
    expect(told).not.toContain("changed meanwhile");
  });
});
