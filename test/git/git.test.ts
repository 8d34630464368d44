import { describe, expect } from "vitest";
import { gitEnv, gitIn } from "../../src/git/git.ts";
import { test } from "../support/repo.ts";

describe("the environment of git", () => {
  test("is read in English, whatever the user's language, and keeps the user's encoding", async ({ repo }) => {
    const env = { ...repo.env(), LANG: "C.UTF-8", LC_ALL: "de_DE.UTF-8", LANGUAGE: "de", LC_MESSAGES: "de_DE.UTF-8" };
    // An alias is run by git itself, and so sees what git sees.
    const alias = 'alias.seen=!printf \'%s|%s|%s|%s\' "$LANG" "$LC_ALL" "$LANGUAGE" "$LC_MESSAGES"';
    const output = await gitIn(repo.path, { env })(["-c", alias, "seen"]);
    expect(output.text()).toBe("de_DE.UTF-8|||C");
  });

  test("binds it to no other repository, index or configuration", async ({ repo }) => {
    const bindings = {
      GIT_DIR: "/nowhere",
      GIT_WORK_TREE: "/nowhere",
      GIT_INDEX_FILE: "/nowhere",
      GIT_OBJECT_DIRECTORY: "/nowhere",
      GIT_NAMESPACE: "other",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.bare",
      GIT_CONFIG_VALUE_0: "true",
    };
    const git = gitIn(repo.path, { env: { ...repo.env(), ...bindings } });
    expect((await git(["rev-parse", "--show-toplevel"])).text()).toBe(`${repo.path}\n`);
    expect((await git(["status", "--porcelain"])).text()).toBe("");
  });

  test("asks nobody and keeps identity and credential helpers", () => {
    const env = gitEnv({ GIT_AUTHOR_NAME: "Me", GIT_ASKPASS: "/ask", SSH_AUTH_SOCK: "/sock", PATH: "/bin" });
    expect(env).toMatchObject({
      GIT_AUTHOR_NAME: "Me",
      SSH_AUTH_SOCK: "/sock",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ASKPASS: "",
    });
  });
});
