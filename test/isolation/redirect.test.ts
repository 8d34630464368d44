import { describe, expect, test } from "vitest";
import {
  originalPath,
  type Redirect,
  redirectCommand,
  redirectedCwd,
  redirectPath,
  redirectPowerShell,
} from "../../src/isolation/redirect.ts";

const HOME = "/home/ann";
const beside: Redirect = { mains: ["/src/shop"], worktree: "/src/shop.worktrees/run", subdirectory: "" };

function at(main: string, changes: Partial<Redirect> = {}): Redirect {
  return { mains: [main], worktree: `${main}.worktrees/run`, subdirectory: "", ...changes };
}

/** The agent's own text, without the lines that go first. */
function shell(redirect: Redirect, command: string): string {
  const [, ...own] = redirectCommand(redirect, command, HOME).split("\nunset OLDPWD\n");
  return own.join();
}

describe("redirectPath", () => {
  test.each([
    [".", "/src/shop.worktrees/run"],
    ["a.txt", "/src/shop.worktrees/run/a.txt"],
    ["./lib/../a.txt", "/src/shop.worktrees/run/a.txt"],
    ["@a.txt", "/src/shop.worktrees/run/a.txt"],
    ["/src/shop", "/src/shop.worktrees/run"],
    ["/src/shop/", "/src/shop.worktrees/run"],
    ["/src/shop/lib/a b.txt", "/src/shop.worktrees/run/lib/a b.txt"],
    ["@/src/shop/a.txt", "/src/shop.worktrees/run/a.txt"],
    ["/src/shop/../shop/a.txt", "/src/shop.worktrees/run/a.txt"],
    ["../../shop/a.txt", "/src/shop.worktrees/run/a.txt"],
    ["file:///src/shop/a%20b.txt", "/src/shop.worktrees/run/a b.txt"],
    ["/src/shop.worktrees/run/a.txt", "/src/shop.worktrees/run/a.txt"],
    ["/src/shop.worktrees/other/a.txt", "/src/shop.worktrees/other/a.txt"],
    ["/src/shopping/a.txt", "/src/shopping/a.txt"],
    ["/src/shop-2/a.txt", "/src/shop-2/a.txt"],
    ["/tmp/a.txt", "/tmp/a.txt"],
    ["~", HOME],
    ["~/notes.txt", "/home/ann/notes.txt"],
    ["~bob/notes.txt", "/src/shop.worktrees/run/~bob/notes.txt"],
    ['it\'s "odd"\n.txt', '/src/shop.worktrees/run/it\'s "odd"\n.txt'],
  ])("takes %j to %j", (path, expected) => {
    expect(redirectPath(beside, path, HOME)).toBe(expected);
  });

  test("stands in the user's subdirectory", () => {
    const redirect = at("/src/shop", { subdirectory: "lib/db" });
    expect(redirectedCwd(redirect)).toBe("/src/shop.worktrees/run/lib/db");
    expect(redirectPath(redirect, "a.txt", HOME)).toBe("/src/shop.worktrees/run/lib/db/a.txt");
    expect(redirectPath(redirect, "../../a.txt", HOME)).toBe("/src/shop.worktrees/run/a.txt");
    expect(redirectPath(redirect, "../../../../shop/a.txt", HOME)).toBe("/src/shop.worktrees/run/a.txt");
    expect(redirectPath(redirect, "/src/shop/a.txt", HOME)).toBe("/src/shop.worktrees/run/a.txt");
  });

  test("knows the checkout by every name", () => {
    const redirect = at("/src/shop", { mains: ["/src/shop", "/home/ann/link"] });
    expect(redirectPath(redirect, "/home/ann/link/a.txt", HOME)).toBe("/src/shop.worktrees/run/a.txt");
    expect(redirectPath(redirect, "~/link/a.txt", HOME)).toBe("/src/shop.worktrees/run/a.txt");
  });

  test("reads a space of any kind as the hosts do, who would find the checkout by it", () => {
    const redirect = at("/src/my shop");
    expect(redirectPath(redirect, "/src/my\u00A0shop/a.txt", HOME)).toBe("/src/my shop.worktrees/run/a.txt");
    expect(redirectPath(redirect, "/src/my\u202Fshop/a.txt", HOME)).toBe("/src/my shop.worktrees/run/a.txt");
  });

  test("leaves a worktree inside the checkout alone", () => {
    const redirect = at("/src/shop", { worktree: "/src/shop/.wt/run" });
    expect(redirectPath(redirect, "/src/shop/.wt/run/a.txt", HOME)).toBe("/src/shop/.wt/run/a.txt");
    expect(redirectPath(redirect, "/src/shop/a.txt", HOME)).toBe("/src/shop/.wt/run/a.txt");
  });
});

test("originalPath leads back to the checkout, and nowhere from outside of the worktree", () => {
  expect(originalPath(beside, "/src/shop.worktrees/run/a.txt")).toBe("/src/shop/a.txt");
  expect(originalPath(beside, "/src/shop.worktrees/run")).toBe("/src/shop");
  expect(originalPath(beside, "/src/shop.worktrees/runner/a.txt")).toBeUndefined();
});

describe("redirectCommand", () => {
  test("starts in the worktree, or not at all", () => {
    const redirect = at("/src/it's a shop");
    expect(redirectCommand(redirect, "pwd", HOME)).toBe(
      "cd '/src/it'\\''s a shop.worktrees/run' || exit 97\nunset OLDPWD\npwd",
    );
  });

  test("starts in the user's subdirectory, or at the top when the agent has removed it", () => {
    const [first] = redirectCommand(at("/src/shop", { subdirectory: "lib" }), "pwd", HOME).split("\n");
    expect(first).toBe("cd '/src/shop.worktrees/run/lib' 2>/dev/null || cd '/src/shop.worktrees/run' || exit 97");
  });

  test.each([
    ["cd /src/shop && make", "cd /src/shop.worktrees/run && make"],
    ["cd /src/shop; make", "cd /src/shop.worktrees/run; make"],
    ["git -C /src/shop status", "git -C /src/shop.worktrees/run status"],
    ["cc -I/src/shop/include a.c", "cc -I/src/shop.worktrees/run/include a.c"],
    ["git --git-dir=/src/shop/.git log", "git --git-dir=/src/shop.worktrees/run/.git log"],
    ["GIT_WORK_TREE=/src/shop git add a", "GIT_WORK_TREE=/src/shop.worktrees/run git add a"],
    ["echo '/src/shop/a' \"/src/shop/b\"", "echo '/src/shop.worktrees/run/a' \"/src/shop.worktrees/run/b\""],
    ["PATH=/bin:/src/shop/bin x", "PATH=/bin:/src/shop.worktrees/run/bin x"],
    ["cat </src/shop/a >/src/shop/b", "cat </src/shop.worktrees/run/a >/src/shop.worktrees/run/b"],
    ["x=$(ls /src/shop)", "x=$(ls /src/shop.worktrees/run)"],
    ["ls `echo /src/shop`", "ls `echo /src/shop.worktrees/run`"],
    ["git clone file:///src/shop x", "git clone file:///src/shop.worktrees/run x"],
    ["echo in /src/shop. Done", "echo in /src/shop.worktrees/run. Done"],
    ["cp {/src/shop,/tmp}/a .", "cp {/src/shop.worktrees/run,/tmp}/a ."],
    ["cat <<EOF\n/src/shop\nEOF", "cat <<EOF\n/src/shop.worktrees/run\nEOF"],
  ])("rewrites %j", (command, expected) => {
    expect(shell(beside, command)).toBe(expected);
  });

  test.each([
    "cd /src/shop.worktrees/run/lib",
    "cd /src/shop.worktrees/other",
    "cd /src/shop-2",
    "cd /src/shop_2",
    "cd /src/shop2/x",
    "cd /src/shop@2",
    "cd /src/shop+x",
    "cd /src/shop.git",
    "cd /src/shopé",
    "cd /src/shop\\ two",
    "cd backup/src/shop",
    "cd ../src/shop",
    "cd ./src/shop",
    "cd /mnt/src/shop",
    "echo shop",
  ])("leaves %j alone", (command) => {
    expect(shell(beside, command)).toBe(command);
  });

  test.each([
    ["bare, in quotes", "/src/my shop", `cd "/src/my shop/x"`, `cd "/src/my shop.worktrees/run/x"`],
    ["with backslashes", "/src/my shop", "cd /src/my\\ shop/x", "cd /src/my\\ shop.worktrees/run/x"],
    ["a quote in single quotes", "/src/it's", "cd '/src/it'\\''s/x'", "cd '/src/it'\\''s.worktrees/run/x'"],
    ["a quote with a backslash", "/src/it's", "cd /src/it\\'s/x", "cd /src/it\\'s.worktrees/run/x"],
    ["a dollar in double quotes", "/src/a$b", 'cd "/src/a\\$b/x"', 'cd "/src/a\\$b.worktrees/run/x"'],
    ["letters beyond ASCII", "/src/läden", "cd /src/läden/x", "cd /src/läden.worktrees/run/x"],
    ["a newline", "/src/a\nb", "cd '/src/a\nb/x'", "cd '/src/a\nb.worktrees/run/x'"],
    ["characters of regular expressions", "/src/c++(1)", "cd '/src/c++(1)/x'", "cd '/src/c++(1).worktrees/run/x'"],
    ["a dollar that is no pattern", "/src/$&", "cd '/src/$&/x'", "cd '/src/$&.worktrees/run/x'"],
  ])("finds a checkout whose name is written %s", (_how, main, command, expected) => {
    expect(shell(at(main), command)).toBe(expected);
  });

  test.each([
    ["cd ~/shop && ls", "cd ~/shop.worktrees/run && ls"],
    ['cd "$HOME/shop/lib"', 'cd "$HOME/shop.worktrees/run/lib"'],
    [`cd "$${"{HOME}"}/shop"`, `cd "$${"{HOME}"}/shop.worktrees/run"`],
    ["cd ~/shopping", "cd ~/shopping"],
    ["cd ~", "cd ~"],
  ])("finds a checkout in the home directory: %j", (command, expected) => {
    expect(shell(at("/home/ann/shop"), command)).toBe(expected);
  });

  test("names a worktree outside of the home directory in full", () => {
    const redirect = at("/home/ann/shop", { worktree: "/big disk/run" });
    expect(shell(redirect, "cd ~/shop/lib")).toBe("cd /big\\ disk/run/lib");
  });

  test("finds the longer of two names of the checkout", () => {
    const redirect = at("/src/shop", { mains: ["/src", "/src/shop"], worktree: "/wt/run" });
    expect(shell(redirect, "cd /src/shop/lib")).toBe("cd /wt/run/lib");
  });

  test("leaves a worktree inside the checkout alone", () => {
    const redirect = at("/src/shop", { worktree: "/src/shop/.wt/run" });
    expect(shell(redirect, "cd /src/shop/.wt/run/lib; cd /src/shop/lib")).toBe(
      "cd /src/shop/.wt/run/lib; cd /src/shop/.wt/run/lib",
    );
  });
});

test("redirectCommand is quick on long words, such as encoded files", () => {
  const word = "x".repeat(200_000);
  const start = performance.now();
  expect(shell(beside, `echo ${word} /src/shop/a`)).toBe(`echo ${word} /src/shop.worktrees/run/a`);
  expect(performance.now() - start).toBeLessThan(1_000); // half a millisecond; it took minutes
});

test("redirectPowerShell starts in the worktree and rewrites paths", () => {
  expect(redirectPowerShell(at("/src/it's"), "Get-Content '/src/shop/a'", HOME)).toBe(
    "Set-Location -LiteralPath '/src/it''s.worktrees/run' -ErrorAction Stop\nGet-Content '/src/shop/a'",
  );
});
