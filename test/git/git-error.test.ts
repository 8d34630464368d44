import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Git, type GitContext, gitIn } from "../../src/git/git.ts";
import { GitError, type GitErrorKind } from "../../src/git/git-error.ts";
import { type TestRepo, test } from "../support/repo.ts";

const MISSING = `${"0".repeat(39)}1`;

type Provoke = (git: Git, repo: TestRepo) => Promise<unknown>;

/** One way, with real git, to each phrase that the table of git-error.ts reads. */
const CAUSES: readonly (readonly [kind: GitErrorKind, phrase: RegExp, provoke: Provoke])[] = [
  ["not-a-repository", /not a git repository/, (_, repo) => gitIn(repo.base, { env: repo.env() })(["status"])],
  [
    "not-a-repository",
    /must be run in a work tree/,
    (_, repo) => gitIn(join(repo.path, ".git"), { env: repo.env() })(["status"]),
  ],
  [
    "not-a-repository",
    /there is no directory/,
    (_, repo) => gitIn(join(repo.base, "none"), { env: repo.env() })(["status"]),
  ],
  [
    "unsafe-owner",
    /dubious ownership/,
    (_, repo) => gitIn(repo.path, { env: { ...repo.env(), GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" } })(["status"]),
  ],
  [
    "locked",
    /index\.lock': File exists/,
    (git, repo) => {
      writeFileSync(join(repo.path, ".git/index.lock"), "");
      return git(["add", "--all"]);
    },
  ],
  [
    "locked",
    /main\.lock': File exists/,
    (git, repo) => {
      const tip = repo.topic("topic", { "a.txt": "a\n" });
      writeFileSync(join(repo.path, ".git/refs/heads/main.lock"), "");
      return git(["update-ref", "refs/heads/main", tip, repo.tip("main")]);
    },
  ],
  [
    "stale-ref",
    /is at [0-9a-f]+ but expected/,
    (git, repo) => {
      const tip = repo.topic("topic", { "a.txt": "a\n" });
      return git(["update-ref", "refs/heads/main", tip, tip]);
    },
  ],
  [
    "stale-ref",
    /reference already exists/,
    (git, repo) => git(["update-ref", "refs/heads/main", repo.tip("main"), "0".repeat(40)]),
  ],
  [
    "stale-ref",
    /unable to resolve reference/,
    (git, repo) => git(["update-ref", "refs/heads/none", repo.tip("main"), repo.tip("main")]),
  ],
  ["unknown-revision", /Needed a single revision/, (git) => git(["rev-parse", "--verify", "none"])],
  ["unknown-revision", /not something we can merge/, (git) => git(["merge-tree", "--write-tree", "main", MISSING])],
  ["unknown-revision", /bad object/, (git) => git(["rev-list", MISSING])],
  ["unknown-revision", /unknown revision/, (git) => git(["rev-parse", "none"])],
  [
    "signing-failed",
    /gpg failed to sign/,
    (git) => git(["-c", "gpg.program=false", "commit", "-S", "--allow-empty", "-m", "x"]),
  ],
  [
    "signing-failed",
    /failed to write commit object/,
    (git) => git(["-c", "gpg.format=ssh", "-c", "user.signingKey=none", "commit", "-S", "--allow-empty", "-m", "x"]),
  ],
  [
    "identity-unknown",
    /^Author identity unknown/,
    (git, repo) => {
      repo.git("config", "--unset", "user.email");
      repo.git("config", "user.useConfigOnly", "true");
      return git(["commit", "--allow-empty", "-m", "x"]);
    },
  ],
  [
    "identity-unknown",
    /^Committer identity unknown/,
    (git, repo) => {
      repo.git("config", "--unset", "user.email");
      repo.git("config", "user.useConfigOnly", "true");
      return git(["commit-tree", "HEAD^{tree}", "-m", "x"], { env: { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b" } });
    },
  ],
  [
    "hook-rejected",
    /ref updates aborted by hook/,
    (git, repo) => {
      const tip = repo.topic("topic", { "a.txt": "a\n" });
      repo.hook("reference-transaction", "exit 1");
      return git(["update-ref", "refs/heads/main", tip]);
    },
  ],
  ["stopped", /(?:)/, (_, repo) => gitIn(repo.path, { env: repo.env(), signal: AbortSignal.abort() })(["status"])],
  [
    "stopped",
    /(?:)/,
    (_, repo) => {
      repo.hook("pre-commit", "exec sleep 30");
      return gitIn(repo.path, { env: repo.env(), timeoutMs: 300 })(["commit", "--allow-empty", "-m", "x"]);
    },
  ],
  ["failed", /unknown option/, (git) => git(["status", "--no-such-option"], { okCodes: [0] })],
  ["not-utf8", /(?:)/, async (git) => (await git(["cat-file", "blob", await blob(git, Buffer.from([0xff]))])).text()],
];

async function blob(git: Git, bytes: Buffer): Promise<string> {
  return (await git(["hash-object", "-w", "--stdin"], { stdin: bytes })).text().trim();
}

async function failure(attempt: Promise<unknown>): Promise<GitError> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GitError);
  return error as GitError;
}

describe("a failure of git", () => {
  for (const [kind, phrase, provoke] of CAUSES) {
    test(`is ${kind} by ${phrase.source}`, async ({ repo }) => {
      const error = await failure(provoke(gitIn(repo.path, { env: repo.env() }), repo));
      expect({ kind: error.kind, stderr: error.command.stderr }).toEqual({
        kind,
        stderr: expect.stringMatching(phrase),
      });
    });
  }

  test("names the command and what git said", async ({ repo }) => {
    const error = await failure(gitIn(repo.path, { env: repo.env() })(["rev-parse", "--verify", "none"]));
    expect(error.message).toBe("git rev-parse: unknown-revision: Needed a single revision");
  });

  test("of a missing git is told from a missing directory", async ({ repo }) => {
    mkdirSync(join(repo.base, "bin"));
    const context: GitContext = { env: { ...repo.env(), PATH: join(repo.base, "bin") } };
    expect((await failure(gitIn(repo.path, context)(["status"]))).kind).toBe("not-found");
  });
});
