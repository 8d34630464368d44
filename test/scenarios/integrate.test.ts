import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { blocked, describeScenarios, type Expected, git } from "./tool-scenarios.ts";

const merged = (says: Expected["says"] = [], also?: Expected["also"]): Expected => ({
  outcome: "merge_commit",
  says,
  also: (built, details) => {
    expect(git(built, "log", "-1", "--format=%P", String(details["to"])).split(" ")).toEqual([
      details["from"],
      details["sourceHead"],
    ]);
    also?.(built, details);
  },
});
const conflict = (paths: readonly unknown[], ...says: (string | RegExp)[]): Expected => ({
  outcome: "conflict",
  paths,
  says,
});

const EXPECTED: Readonly<Record<string, Expected>> = {
  "i01-merge-driver-keeps-ours": merged(["merge driver mine decided a.txt"]),
  "i02-merge-driver-crashes": conflict(["a.txt"], /driver .*was in charge of/, /died of signal/),
  "i03-pull-twohead-ours": merged(),
  "i05-merge-ff-only": merged(),
  "i06-mergeoptions-squash": merged(),
  "i07-mergeoptions-via-include": merged(),
  "i08-hook-pre-merge-commit-fails": blocked("hook-rejected", "pre-merge-commit", "policy: no merges on Friday"),
  "i09-hook-commit-msg-fails": blocked("hook-rejected", "commit-msg", "commit message needs a ticket id"),
  "i10-hook-post-merge-dirties": merged(["post-merge changed keep.txt after the landing was complete"]),
  "i11-hook-post-merge-commits": merged([/post-merge moved the branch on to [0-9a-f]{7} after/], (built, details) => {
    expect(git(built, "rev-parse", "main")).not.toBe(details["to"]);
  }),
  "i13-hook-reference-transaction-aborts": blocked("hook-rejected", "reference-transaction", "main is frozen"),
  "i14-hook-moves-source": merged([/the source branch has moved to [0-9a-f]{7} since/]),
  "i15-hook-hangs": blocked("hook-rejected", "pre-merge-commit", "took longer than"),
  "i17-submodule-dirty-hidden": merged(),
  "i18-smudge-filter-fails": blocked("sync-failed", "no server", "put back"),
  "i19-sparse-checkout-conflict-outside": conflict(["out/x.txt"]),
  "i21-file-becomes-symlink": conflict(["f"]),
  "i22-directory-file-conflict": conflict(["d"], /file\/directory/),
  "i23-ignored-file-overwritten-merge": { ...blocked("would-overwrite-ignored"), paths: ["secret.env"] },
  "i24-ignored-file-overwritten-ff": { ...blocked("would-overwrite-ignored"), paths: ["secret.env"] },
  "i25-ignored-dir-replaced-by-file": blocked("would-overwrite-ignored", "build/"),
  "i26-index-lock-stale": blocked("locked", "index.lock", /\d+ s old/, "no git is running there"),
  "i27-ref-lock-stale": blocked("locked", "refs/heads/main.lock"),
  "i29-criss-cross": merged(),
  "i30-unrelated-histories": blocked("unrelated-histories", "no common history"),
  "i31-shallow-no-base": { ...blocked("unrelated-histories", "shallow"), neverSays: ["no common history"] },
  "i33-rename-rename": conflict(["a.txt", "ours.txt", "theirs.txt"], "rename/rename"),
  "i34-conflict-path-newline": conflict(['we\nird\t"name".txt']),
  "i35-conflict-path-not-utf8": {
    ...conflict([{ base64: Buffer.from("caf\xe9.txt", "latin1").toString("base64") }]),
    neverSays: ["\ufffd"],
  },
  "i37-conflict-150-paths": { outcome: "conflict", also: (_, details) => expectBounded(details, 150) },
  "i38-conflict-path-output-large": { outcome: "conflict", also: (_, details) => expectBounded(details, 1_500) },
  "i39-very-long-path": { outcome: "conflict", also: (_, details) => expect(details["totalPaths"]).toBe(1) },
  "i40-assume-unchanged-edit": { ...blocked("hidden-edit", "assume-unchanged"), paths: ["keep.txt"] },
  "i41-skip-worktree-edit": { ...blocked("hidden-edit", "skip-worktree"), paths: ["keep.txt"] },
  "i42-replace-ref-fakes-ancestry": merged(),
  "i43-graft-file": merged(),
  "i45-fsmonitor-lies": { ...blocked("overlap"), paths: ["keep.txt"] },
  "i46-fsmonitor-slow": merged(),
  "i47-autocrlf": merged(),
  "i49-git-dir-env-other-repo": merged(),
  "i50-git-index-file-env": merged([], (built) => expect(git(built, "status", "--porcelain")).toBe("")),
  "i51-git-config-env": merged(),
  "i53-verify-signatures": blocked("signature-required", /merge\.verifySignatures/i),
  "i54-target-in-two-worktrees": blocked("held-twice", "twin"),
  "i55-bisect-in-progress": blocked("target-busy", "bisect"),
  "i57-short-branch-names": blocked("hook-rejected", "release branch is frozen, ask the release team"),
  "i58-tag-shadows-branch": merged([], (built, details) => {
    expect(details["sourceHead"]).toBe(git(built, "rev-parse", "refs/heads/feature"));
  }),
  "i59-corrupt-source-object": blocked("sync-failed", "feature.txt", /[0-9a-f]{40}/),
  "i61-disk-full": blocked("sync-failed", "put back"),
  "i62-core-worktree": merged(),
  "i63-big-stdout": merged(),
  "i65-reftable": merged(),
  "i66-sha256": merged([], (_, details) => expect(details["to"]).toMatch(/^[0-9a-f]{64}$/)),
  "i67-octopus-source": merged([], (built, details) => {
    expect(git(built, "log", "-1", "--format=%P", String(details["sourceHead"])).split(" ").length).toBeGreaterThan(2);
  }),
  "i69-merge-renames-off": merged(),
  "i70-source-checked-out-dirty": merged([/\d+ uncommitted files? in .* not part of this landing/]),
  "i71-hooks-path-global": merged([/ran post-merge from .*shared\/hooks/]),
  "i73-exclude-hides-untracked": { ...blocked("would-overwrite-ignored"), paths: ["feature.txt"] },
  "i74-hook-stages-during-merge": merged([/pre-merge-commit left smuggled\.txt uncommitted/]),
  "i75-target-is-symbolic-ref": blocked("branch-symbolic", "refs/heads/main"),
  "i77-after-successful-rebase": merged(),
};

function expectBounded(details: Record<string, unknown>, total: number): void {
  const paths = details["paths"] as unknown[];
  expect(details["totalPaths"]).toBe(total);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.length).toBeLessThan(total);
  expect(JSON.stringify(details).length).toBeLessThan(32 * 1024);
}

/** Why a scenario cannot be built on this machine; `undefined` where it can. */
function missing(name: string): string | undefined {
  if (name === "i61-disk-full" && process.getuid?.() !== 0) return "mounting a small file system needs root";
  if (name !== "i65-reftable") return undefined;
  const [, major = 0, minor = 0] =
    /(\d+)\.(\d+)/.exec(spawnSync("git", ["--version"], { encoding: "utf8" }).stdout)?.map(Number) ?? [];
  return major > 2 || minor >= 45 ? undefined : "reftable needs git 2.45";
}

describeScenarios({
  prefix: "i",
  tool: "integrate_branch",
  expected: EXPECTED,
  successes: ["merge_commit"],
  timeoutMs: (name) => (name === "i15-hook-hangs" ? 3_000 : undefined),
  missing,
});
