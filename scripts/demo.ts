/**
 * The main job as a user sees it: `pi -p "/ultrathink …"` with a scripted model, in the middle of other work.
 * Fails when that work changed by a byte, or when the run did not land.
 *
 * `npm run demo` makes a repository up; `npm run demo -- --repo <path>` works on a clone of one. Nothing outside of
 * a temporary folder is written.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { piCommand } from "../test/support/hosts.ts";
import { Playground } from "./demo/playground.ts";
import { LANDED, PROMPT, SCRIPT } from "./demo/script.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-demo-")));
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

try {
  const { values } = parseArgs({ options: { repo: { type: "string" } } });
  await demo(values.repo === undefined ? Playground.madeUp(root) : Playground.cloneOf(values.repo, root));
} catch (error) {
  console.error(`\ndemo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function demo(repository: Playground): Promise<void> {
  const { branch } = repository;
  repository.makeDirty();
  const tip = repository.git("rev-parse", "HEAD");
  const before = repository.state();
  show(`a checkout of ${branch} in the middle of other work`, repository.git("status", "--short"));
  show("its history", graph(repository));

  heading(`pi -p "/ultrathink ${PROMPT}"`);
  const code = await pi(repository.path);

  show(`the history of ${branch} now`, graph(repository));
  show("the checkout now", repository.git("status", "--short"));
  const problems = [
    ...(code === 0 ? [] : [`pi ended with code ${code}`]),
    ...changesIn(before, repository.state(LANDED)),
    ...(repository.git("rev-parse", "HEAD^1") === tip ? [] : [`${branch} is not where the run should have put it`]),
    ...missing(repository),
    ...(repository.git("branch", "--list", "ultrathink/*") === "" ? [] : ["the scratch branch is still there"]),
    ...(repository.git("worktree", "list").includes("\n") ? ["the worktree is still there"] : []),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n  "));
  const files = [...before.keys()].filter((what) => what.startsWith("content of ")).length;
  console.log(
    `\n✔ ${branch} has the work; all ${files} uncommitted files, and what of them was staged, are as they were.`,
  );
}

/** Names of what is not as it was. */
function changesIn(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).map((name) => `changed: ${name}`);
}

function missing(repository: Playground): string[] {
  const there = repository.git("ls-tree", "-r", "--name-only", "HEAD", "--", ...LANDED).split("\n");
  return LANDED.filter((path) => !there.includes(path)).map((path) => `did not land: ${path}`);
}

function pi(cwd: string): Promise<number | null> {
  const options = { cwd, home: join(root, "home"), script: SCRIPT };
  const { file, args, env } = piCommand(options, ["-p", `/ultrathink ${PROMPT}`]);
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"] });
    child.on("error", reject);
    child.on("close", resolve);
  });
}

function graph(repository: Playground): string {
  return repository.git("log", "--graph", "--oneline", "--decorate", "-8");
}

function show(what: string, text: string): void {
  heading(what);
  console.log(text);
}

function heading(text: string): void {
  console.log(`\n── ${text}`);
}
