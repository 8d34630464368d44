import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { toBranchName } from "../src/git/names.ts";
import { openRepository } from "../src/git/repository.ts";
import { integrate } from "../src/landing/integrate.ts";

/**
 * `npm run compare:merges -- --repo <path> [--most <n>]`: does the merges of a real history again, in a clone,
 * with `git merge` and with the landing machine, and compares trees and conflicts.
 */
const { values } = parseArgs({ options: { repo: { type: "string" }, most: { type: "string", default: "200" } } });
if (values.repo === undefined) throw new TypeError("which history? --repo <path>");

const base = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-compare-")));
const path = join(base, "clone");
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: base,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Compare",
  GIT_AUTHOR_EMAIL: "compare@example.com",
  GIT_COMMITTER_NAME: "Compare",
  GIT_COMMITTER_EMAIL: "compare@example.com",
};
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: path, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

try {
  execFileSync("git", ["clone", "--quiet", "--no-hardlinks", "--no-checkout", resolve(values.repo), path], { env });
  const list = git(
    "rev-list",
    "--min-parents=2",
    "--max-parents=2",
    `--max-count=${values.most}`,
    "--all",
    "--parents",
  );
  const merges = list.split("\n").filter((line) => line !== "");
  const counts = { trees: 0, conflicts: 0 };
  const differing: string[] = [];
  for (const line of merges) {
    const [merge = "", ours = "", theirs = ""] = line.split(" ");
    const [reference, landed] = [gitMerge(ours, theirs), await land(ours, theirs)];
    if (reference !== landed) differing.push(`${merge}: git merge gives ${reference}, the landing ${landed}`);
    else counts[reference === "conflict" ? "conflicts" : "trees"]++;
  }
  for (const line of differing) console.log(line);
  console.log(
    `${merges.length} merges: ${counts.trees} same trees, ${counts.conflicts} conflicts in both, ${differing.length} differ`,
  );
  if (differing.length > 0) process.exitCode = 1;
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** The tree that it makes, or `conflict`. */
function gitMerge(ours: string, theirs: string): string {
  git("checkout", "--quiet", "--force", "--detach", ours);
  const { status } = spawnSync("git", ["merge", "--quiet", "--no-ff", "--no-edit", theirs], { cwd: path, env });
  if (status === 0) return git("rev-parse", "HEAD^{tree}");
  git("merge", "--abort");
  return "conflict";
}

async function land(ours: string, theirs: string): Promise<string> {
  git("checkout", "--quiet", "--force", "-B", "compare-target", ours);
  git("branch", "--force", "compare-source", theirs);
  const branches = { source: toBranchName("compare-source"), target: toBranchName("compare-target") };
  const end = await integrate({ repository: await openRepository(path, { env }), env }, branches);
  if (end.step === "stopped") return end.reason.kind === "conflicted" ? "conflict" : JSON.stringify(end.reason);
  return git("rev-parse", "compare-target^{tree}");
}
