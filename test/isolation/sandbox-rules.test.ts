import { describe, expect, test } from "vitest";
import { bubblewrapArgs, sandboxExecProfile } from "../../src/isolation/sandbox.ts";
import { type SandboxedRun, type Surroundings, sandboxRules } from "../../src/isolation/sandbox-rules.ts";

const run: SandboxedRun = {
  worktree: "/src/shop.worktrees/run",
  commonDir: "/src/shop/.git",
  gitDir: "/src/shop/.git/worktrees/run",
  branch: { folder: "ultrathink", name: "run" },
};
const around: Surroundings = {
  checkouts: ["/src/shop", "/src/other"],
  commonEntries: ["HEAD", "index", "config", "refs", "logs", "objects", "worktrees", "lfs"].map((name) => ({ name })),
  otherBranches: ["second"],
  packFiles: ["pack-1.pack"],
};

/** What may be done with `path` by the last rule that is about it. */
function access(path: string, { run: of = run, around: at = around } = {}): string {
  const rule = sandboxRules(of, at).findLast((each) => path === each.path || path.startsWith(`${each.path}/`));
  return rule?.access ?? "write";
}

describe("the rules", () => {
  test.each([
    ["/tmp/x", "write"],
    ["/src/shop.worktrees/run/a", "write"],
    ["/src/shop.worktrees/run/.git", "read"],
    ["/src/shop/a", "read"],
    ["/src/other/a", "read"],
    ["/src/shop/.git/index", "read"],
    ["/src/shop/.git/config", "read"],
    ["/src/shop/.git/MERGE_HEAD", "locks"],
    ["/src/shop/.git/objects/aa/b", "write"],
    ["/src/shop/.git/objects/pack/pack-1.pack", "read"],
    ["/src/shop/.git/objects/pack/pack-2.pack", "write"],
    ["/src/shop/.git/lfs/objects/a", "write"],
    ["/src/shop/.git/refs/heads/main", "read"],
    ["/src/shop/.git/refs/stash", "read"],
    ["/src/shop/.git/refs/heads/ultrathink/run", "write"],
    ["/src/shop/.git/refs/heads/ultrathink/second", "read"],
    ["/src/shop/.git/logs/refs/heads/ultrathink/run", "write"],
    ["/src/shop/.git/logs/refs/heads/ultrathink/second", "read"],
    ["/src/shop/.git/logs/HEAD", "read"],
    ["/src/shop/.git/worktrees/run/HEAD", "write"],
    ["/src/shop/.git/worktrees/run/gitdir", "read"],
    ["/src/shop/.git/worktrees/other/HEAD", "read"],
  ])("%s: %s", (path, expected) => {
    expect(access(path)).toBe(expected);
  });

  test("a worktree inside a checkout stays writable", () => {
    const inside = { ...run, worktree: "/src/shop/.wt/run" };
    expect(access("/src/shop/.wt/run/a", { run: inside, around })).toBe("write");
    expect(access("/src/shop/.wt/run/.git", { run: inside, around })).toBe("read");
    expect(access("/src/shop/.wt/a", { run: inside, around })).toBe("read");
  });

  test("a bare repository is no checkout", () => {
    const bare = { ...run, commonDir: "/src/shop.git", gitDir: "/src/shop.git/worktrees/run" };
    const places = { run: bare, around: { ...around, checkouts: ["/src/shop.git", "/src/other"] } };
    expect(access("/src/shop.git/objects/aa/b", places)).toBe("write");
    expect(access("/src/shop.git/HEAD", places)).toBe("read");
  });

  test("with a reftable, references are where every branch is", () => {
    const places = { run, around: { ...around, commonEntries: [...around.commonEntries, { name: "reftable" }] } };
    expect(access("/src/shop/.git/reftable/tables.list", places)).toBe("write");
    expect(access("/src/shop/.git/config", places)).toBe("read");
    expect(access("/src/shop/.git/hooks/pre-commit", places)).not.toBe("write");
  });

  test("a symbolic link counts for what it leads to", () => {
    const linked = { ...around, commonEntries: [{ name: "hooks", target: "/home/ann/hooks" }] };
    expect(access("/home/ann/hooks/pre-commit", { run, around: linked })).toBe("read");
    const args = bubblewrapArgs(sandboxRules(run, linked), true).join(" ");
    expect(args).toContain("--ro-bind-try /home/ann/hooks /home/ann/hooks");
    expect(args).toContain("--symlink /home/ann/hooks /src/shop/.git/hooks");
  });
});

test("the arguments of bubblewrap go deeper and deeper, so that none hides one before", () => {
  const args = bubblewrapArgs(sandboxRules(run, around), true);
  const targets = args.flatMap((arg, index) => (/^--(?:ro-)?bind-try$/.test(arg) ? [args[index + 2] ?? ""] : []));
  const shared = targets.filter((path) => !path.includes("/ultrathink-shared/"));
  for (const [index, path] of shared.entries()) {
    expect(shared.slice(index + 1).filter((later) => path.startsWith(`${later}/`))).toEqual([]);
  }
  expect(args).not.toContain("--unshare-net");
  expect(bubblewrapArgs([], false)).toContain("--unshare-net");
});

test("the profile for sandbox-exec has the same rules, the last one that matches deciding", () => {
  const odd = { ...around, checkouts: ['/src/sh"op\\'], commonEntries: [], packFiles: [] };
  expect(sandboxExecProfile(sandboxRules(run, odd), false)).toBe(
    `(version 1)
(allow default)
(deny network*)
(allow network* (local ip "localhost:*") (remote ip "localhost:*"))
(deny file-write* (subpath "/src/sh\\"op\\\\"))
(deny file-write* (subpath "/src/shop/.git"))
(allow file-write* (literal "/src/shop/.git/packed-refs.lock") (literal "/src/shop/.git/packed-refs.new"))
(deny file-write* (subpath "/src/shop.worktrees/run/.git"))
(allow file-write* (subpath "/src/shop/.git/worktrees/run"))
(deny file-write* (subpath "/src/shop/.git/objects/info/alternates"))
(allow file-write* (subpath "/src/shop/.git/refs/heads/ultrathink"))
(deny file-write* (subpath "/src/shop/.git/worktrees/run/gitdir"))
(deny file-write* (subpath "/src/shop/.git/worktrees/run/commondir"))
(deny file-write* (subpath "/src/shop/.git/worktrees/run/locked"))
(allow file-write* (subpath "/src/shop/.git/logs/refs/heads/ultrathink"))
(deny file-write* (subpath "/src/shop/.git/refs/heads/ultrathink/second"))
(deny file-write* (subpath "/src/shop/.git/logs/refs/heads/ultrathink/second"))
`,
  );
});
