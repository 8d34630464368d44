import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect } from "vitest";
import { type TestRepo, test } from "../support/repo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSX = pathToFileURL(join(ROOT, "node_modules/tsx/dist/esm/index.mjs")).href;

interface Run {
  readonly code: number | null;
  readonly answer: Record<string, unknown>;
  readonly stderr: string;
}

function run(
  repo: TestRepo,
  file: string,
  args: readonly string[],
  cwd: string,
  extra: NodeJS.ProcessEnv = {},
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env: { ...repo.env(), ...extra }, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => (output.stdout += chunk));
    child.stderr.on("data", (chunk) => (output.stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      expect(output.stdout.match(/\n/g)).toHaveLength(1);
      resolve({ code, answer: JSON.parse(output.stdout), stderr: output.stderr });
    });
  });
}

/** The script as `npm run tool` starts it, without npm's own second. */
function tool(repo: TestRepo, args: readonly string[], cwd = repo.path, env: NodeJS.ProcessEnv = {}): Promise<Run> {
  return run(repo, process.execPath, ["--import", TSX, join(ROOT, "scripts/tool.ts"), ...args], cwd, env);
}

describe("scripts/tool.ts", () => {
  test("prints one JSON object and exits 0 for an answer and for a refusal", async ({ repo }) => {
    const [listed, refused] = await Promise.all([
      tool(repo, ["list_worktrees", "{}"]),
      tool(repo, ["remove_worktree", JSON.stringify({ worktreePath: repo.path })]),
    ]);
    expect(listed).toMatchObject({
      code: 0,
      stderr: "",
      answer: { tool: "list_worktrees", content: [{ type: "text" }], details: { outcome: "listed" } },
    });
    expect(Object.keys(listed.answer)).toEqual(["tool", "content", "details"]);
    expect(refused).toMatchObject({ code: 0, answer: { details: { outcome: "blocked", reason: "main-worktree" } } });
  });

  test("exits 1 with an error for what is no call", async ({ repo }) => {
    const calls: readonly (readonly string[])[] = [
      [],
      ["no_such_tool", "{}"],
      ["list_worktrees", "{"],
      ["create_worktree", '{"worktreePath":null,"branchName":1,"branchMode":"new"}'],
    ];
    const runs = await Promise.all(calls.map((args) => tool(repo, args)));
    for (const [index, { code, answer }] of runs.entries()) {
      expect(code).toBe(1);
      expect(answer).toEqual({ tool: calls[index]?.[0] ?? null, error: { message: expect.stringMatching(/\S/) } });
    }
  });

  test("acts where it is called, where npm was called, or where --cwd says", async ({ repo }) => {
    const worktree = repo.linkedWorktree("topic");
    const current = async (args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) => {
      const { answer } = await tool(repo, ["list_worktrees", ...args], cwd, env);
      const { worktrees } = answer["details"] as { worktrees: { path: string; current: boolean }[] };
      return worktrees.find((each) => each.current)?.path;
    };
    const seen = await Promise.all([
      current([], ROOT, { INIT_CWD: worktree }),
      current(["--cwd", worktree], repo.path),
      current(["--cwd", "../worktrees/topic"], ROOT, { INIT_CWD: repo.path }),
    ]);
    expect(seen).toEqual([worktree, worktree, worktree]);
  });

  test("works by way of npm from another directory", async ({ repo }) => {
    const args = ["run", "--silent", "--prefix", ROOT, "tool", "--", "list_worktrees", "{}"];
    const { code, answer } = await run(repo, "npm", args, repo.path, { npm_config_cache: join(repo.base, "npm") });
    expect({ code, answer }).toMatchObject({
      code: 0,
      answer: { details: { worktrees: [{ path: repo.path, current: true }] } },
    });
  });

  test("loads nothing of a host", async ({ repo }) => {
    const script = `
      import { register } from "node:module";
      register("data:text/javascript," + encodeURIComponent(\`export async function resolve(specifier, context, next) {
        if (/^@(mariozechner|earendil-works)\\\\//.test(specifier)) throw new Error("loaded " + specifier);
        return next(specifier, context);
      }\`));`;
    const guard = `data:text/javascript,${encodeURIComponent(script)}`;
    const args = ["--import", TSX, "--import", guard, join(ROOT, "scripts/tool.ts"), "list_worktrees"];
    expect(await run(repo, process.execPath, args, repo.path)).toMatchObject({ code: 0, stderr: "" });
  });

  test("ends a call that is interrupted as a refusal, with nothing left behind", async ({ repo }) => {
    repo.hook("post-checkout", "touch ../started; exec sleep 30");
    const json = JSON.stringify({ worktreePath: "../wt", branchName: "topic", branchMode: "new" });
    const args = ["--import", TSX, join(ROOT, "scripts/tool.ts"), "create_worktree", json];
    const script = "node_pid=$!; while [ ! -e ../started ]; do sleep 0.05; done; kill -TERM $node_pid; wait $node_pid";
    const shell = `"$0" "$@" & ${script}`;
    const { code, answer } = await run(repo, "sh", ["-c", shell, process.execPath, ...args], repo.path);
    expect({ code, answer }).toMatchObject({ code: 0, answer: { details: { outcome: "blocked" } } });
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
    expect(repo.git("branch", "--list", "topic")).toBe("");
  });
});
