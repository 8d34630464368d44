import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test as plainTest } from "vitest";
import { sandboxedShellText } from "../../src/isolation/sandbox.ts";
import { runProcess } from "../../src/process/run-process.ts";
import { TestRepo, test } from "../support/repo.ts";
import { type SandboxedRun, sandboxedRun } from "../support/sandboxed-run.ts";

describe("a confined command behaves as it does alone:", () => {
  let repo: TestRepo;
  let run: SandboxedRun;
  beforeAll(async () => {
    repo = new TestRepo();
    run = await sandboxedRun(repo);
  });
  afterAll(() => repo.remove());

  plainTest.each([
    ["quotes", `echo "it's" 'a "b"' \\' \\" $'c\\'d'`],
    ["several lines", "echo a\n\necho b \\\n  c\n"],
    ["a heredoc", "cat <<'X'\n$HOME `id` \\ ' \"\nX\necho end"],
    ["a heredoc by the name that ours has", "cat <<SHELL_STATE\nmine\nSHELL_STATE\necho end"],
    ["nested shells", `bash -c 'bash -c "echo \\"$1\\"" sh "a b"' sh x`],
    ["what is not ASCII", "echo 'ünïcode ✓ 🙂'; printf '\\303\\251\\0\\377' | od -c"],
    ["a comment at the end", "echo a # b"],
    ["a backslash at the end", "echo a\\"],
    ["an exit code", "exit 7"],
    ["a failure on the way", "false; echo $?"],
    ["a command that is not there", "no-such-command-here"],
    ["a syntax error, by its line", "echo a\nif then\n"],
    ["an error, by its line", "echo a\nset -u; echo $nothing\n"],
    ["both outputs, in order", "echo a; echo b >&2; echo c"],
    ["job control", "sleep 0 & wait $!; echo $?"],
    ["its input", "cat; read -r line; echo $?"],
    ["its parameters", 'echo "$#:$*"; echo "$-"; echo "$0"'],
    ["its file descriptors", "ls -v /proc/self/fd; exec 9>&1; echo nine >&9"],
    ["where it stands", "pwd; echo $PWD; cd ..; cd - >/dev/null; pwd"],
    ["its environment", "env | grep -v -E '^(_|SHLVL|GIT_CONFIG_.*)=' | sort"],
    ["100 KB of text", `echo ${"x".repeat(100_000)} | wc -c`],
  ])("%s", async (_what, command) => {
    expect(await run.bash(command)).toEqual(await run.plain(command));
  });

  plainTest("a signal that ends it is told as shells do", async () => {
    expect(await run.bash("kill -TERM $$")).toMatchObject({ exit: { kind: "exited", code: 128 + 15 } });
  });

  plainTest("an abort ends it and all that it has started", async () => {
    const controller = new AbortController();
    const mark = `ultratree-${process.pid}-${Date.now()}`;
    const ended = run.bash(`setsid bash -c 'sleep 60; : ${mark}' & sleep 60; : ${mark}`, controller.signal);
    await sleep(300);
    expect(await processesNaming(mark)).not.toBe(0);
    controller.abort();
    expect(await ended).toMatchObject({ exit: { kind: "aborted" } });
    await expect.poll(() => processesNaming(mark)).toBe(0);
  });

  plainTest("output comes while it runs", async () => {
    const chunks: number[] = [];
    const text = sandboxedShellText({ program: "bubblewrap", rules: [], network: true }, "echo a; sleep 0.5; echo b");
    const limits = { timeoutMs: 10_000, outputLimitBytes: 1024 };
    await runProcess("bash", ["-c", text], {
      ...{ cwd: "/", env: process.env, ...limits },
      onOutput: () => chunks.push(Date.now()),
    });
    expect((chunks.at(-1) ?? 0) - (chunks[0] ?? 0)).toBeGreaterThan(300);
  });

  plainTest("aliases, functions and options of the user's own shell settings are there", async () => {
    const prefix =
      'shopt -s expand_aliases nullglob; set -o pipefail; alias hi=\'echo hello\'; twice() { "$@"; "$@"; }\n';
    const command = "cd / # as after redirection\ntwice hi\nhi\nfalse | true; echo $?\necho /nothing*here";
    const confined = sandboxedShellText({ program: "bubblewrap", rules: [], network: true }, command);
    const limits = { cwd: "/", env: process.env, timeoutMs: 10_000, outputLimitBytes: 1024 };
    const [outside, inside] = await Promise.all(
      [command, confined].map((text) => runProcess("bash", ["-c", prefix + text], limits)),
    );
    expect(inside?.stdout.toString()).toBe("hello\n1\n\n");
    expect(inside?.stdout).toEqual(outside?.stdout);
  });

  plainTest("it needs no bash", async () => {
    const text = sandboxedShellText({ program: "bubblewrap", rules: [], network: true }, "cd /; echo $0; exit 3");
    const limits = { cwd: "/", env: process.env, timeoutMs: 10_000, outputLimitBytes: 1024 };
    const { exit, stdout, stderr } = await runProcess("sh", ["-c", text], limits);
    expect([exit, stdout.toString(), stderr.toString()]).toEqual([{ kind: "exited", code: 3 }, "sh\n", ""]);
  });

  plainTest("nothing runs when the sandbox does not start", async () => {
    const text = sandboxedShellText({ program: "bubblewrap", rules: [], network: true }, "echo ran");
    const limits = { cwd: "/", env: { PATH: "/nowhere" }, timeoutMs: 10_000, outputLimitBytes: 1024 };
    const { exit, stdout } = await runProcess("/bin/bash", ["-c", text], limits);
    expect([exit, stdout.toString()]).toEqual([{ kind: "exited", code: 127 }, ""]);
  });

  plainTest("a path may hold anything", async () => {
    const odd = `${repo.base}/it's "$HOME" \n\\ \u00e9`;
    repo.write({ file: "kept\n" }, odd);
    const rules = [{ access: "read", path: odd }] as const;
    const text = sandboxedShellText({ program: "bubblewrap", rules, network: true }, 'echo x > "$ODD/file"; echo $?');
    const limits = { cwd: "/", env: { ...process.env, ODD: odd }, timeoutMs: 10_000, outputLimitBytes: 4096 };
    const { stdout, stderr } = await runProcess("bash", ["-c", text], limits);
    expect(stdout.toString()).toBe("1\n");
    expect(stderr.toString()).toContain("Read-only file system");
    expect(repo.read("file", odd)).toBe("kept\n");
  });
});

test.for([true, false])("network on: %s", async (network, { repo }) => {
  const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const run = await sandboxedRun(repo, { network });
    const { stdout } = await run.bash(`cat </dev/tcp/127.0.0.1/${port}`);
    expect(stdout).toBe(network ? "hello" : "");
  } finally {
    server.close();
  }
});

/** Running processes whose command line holds `text`. */
async function processesNaming(text: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.filter((pid) => existsSync(`/proc/${pid}/cmdline`) && commandLine(pid).includes(text)).length;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}
