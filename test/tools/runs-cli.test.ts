import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";
import { scriptedRun } from "../support/scripted-run.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSX = pathToFileURL(join(ROOT, "node_modules/tsx/dist/esm/index.mjs")).href;

function runs(
  repo: TestRepo,
  args: Record<string, string>,
): { details: Record<string, unknown>; content: { text: string }[] } {
  const argv = ["--import", TSX, join(ROOT, "scripts/tool.ts"), "runs", JSON.stringify(args)];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: repo.path, env: repo.env(), encoding: "utf8" }));
}

test("npm run tool -- runs lists, lands and takes back what a shell is told to", async ({ repo }) => {
  repo.makeDirty();
  const before = { ...repo.snapshot(), main: repo.tip("main") };
  await scriptedRun({
    cwd: repo.path,
    env: repo.env(),
    passes: ["echo 1 > a.txt", "echo 2 > b.txt"],
    options: { land: "none" },
  });

  expect(runs(repo, { action: "list" }).details).toMatchObject({
    outcome: "listed",
    runs: [{ status: "preserved", run: { slug: "scripted-run" } }],
  });
  expect(runs(repo, { action: "undo", slug: "scripted-run" }).details).toMatchObject({
    outcome: "blocked",
    reason: "wrong-status",
  });
  expect(runs(repo, { action: "land", slug: "scripted-run" }).details).toMatchObject({
    outcome: "landed",
    kind: "merge",
  });
  expect(repo.git("log", "-1", "--format=%s", "main")).toBe("Merge ultrathink/scripted-run into main");
  expect(runs(repo, { action: "undo", slug: "scripted-run" }).details).toMatchObject({
    outcome: "undone",
    to: before.main,
  });
  expect({ ...repo.snapshot(), main: repo.tip("main") }).toEqual(before);
  expect(runs(repo, { action: "show", slug: "nobody" }).details).toMatchObject({
    outcome: "blocked",
    reason: "no-such-run",
  });
  expect(runs(repo, { action: "recover" }).content[0]?.text).toBe("Nothing was half-done.");
});

test("a run lands from a shell only when the configured check passes, and needs its branch", async ({ repo }) => {
  await scriptedRun({ cwd: repo.path, env: repo.env(), passes: ["echo 1 > a.txt"], options: { land: "none" } });
  const config = join(repo.env()["HOME"] as string, ".pi/ultrathink.json");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ check: "test -e absent" }));
  const before = repo.tip("main");

  const land = () => runs(repo, { action: "land", slug: "scripted-run" }).details;

  expect(land()).toMatchObject({ outcome: "blocked", reason: "check-failed" });
  repo.git("update-ref", "-d", "refs/heads/ultrathink/scripted-run");
  expect(land()).toMatchObject({ outcome: "blocked", reason: "branch-missing" });
  expect(repo.tip("main")).toBe(before);
});
