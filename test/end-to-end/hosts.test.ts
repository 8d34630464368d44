import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { host, requests } from "../support/hosts.ts";
import { piJson, piPrint } from "../support/pi-print.ts";
import { processesOf } from "../support/pi-process.ts";
import { startRpc } from "../support/pi-rpc.ts";
import { startTmux } from "../support/pi-tmux.ts";
import type { Script } from "../support/scripted-model.ts";

let home: string;
let cwd: string;

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-")));
  home = join(root, "home");
  cwd = join(root, "repo");
  mkdirSync(cwd);
});

afterEach(() => {
  expect(processesOf(home)).toEqual([]);
  rmSync(join(home, ".."), { recursive: true });
});

const writing: Script = {
  passes: [
    {
      steps: [
        [{ tool: "write", arguments: { path: "a.txt", content: "alpha\n" } }],
        [{ tool: "bash", arguments: { command: "cat a.txt; cat $MAIN/a.txt" } }],
      ],
      text: "Wrote $MAIN/a.txt.",
    },
  ],
  cost: 0.25,
};

describe(`on the ${host.name} host`, () => {
  test("print mode plays a pass with tool calls and prints its text", async () => {
    const result = await piPrint({ home, cwd, script: writing, product: false, prompt: "write a file" });

    expect(result).toEqual({ code: 0, signal: null, stdout: `Wrote ${cwd}/a.txt.\n`, stderr: "" });
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("alpha\n");
    expect(requests(home).map(({ toolResults }) => toolResults.map(({ text }) => text).join())).toEqual([
      "",
      expect.stringContaining("a.txt"),
      "alpha\nalpha\n",
    ]);
    expect(requests(home)[0]).toMatchObject({
      kind: "agent",
      pass: 0,
      model: "agent",
      cwd,
      lastUser: "write a file",
      tools: expect.arrayContaining(["read", "bash", "edit", "write"]),
    });
  });

  test("JSON mode reports events with the scripted cost", async () => {
    const { code, events } = await piJson({ home, cwd, script: writing, product: false, prompt: "write a file" });

    expect(code).toBe(0);
    const ended = events.filter(({ type }) => type === "message_end").map(({ message }) => message);
    expect(ended.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop", usage: { cost: { total: 0.25 } } });
  });

  test("a retried provider error stays within its pass, the next prompt plays the next one", async () => {
    const [pass] = writing.passes;
    const error = { message: "503 service unavailable", times: 2, afterSteps: 1 };
    const script = { passes: [{ ...pass, error }, { text: "Second." }] };
    const prompt = ["write a file", "and now?", "more?"];

    const result = await piPrint({ home, cwd, script, product: false, prompt });

    expect(result).toMatchObject({ code: 0, stdout: "idle\n" });
    expect(requests(home).map((request) => request.pass)).toEqual([0, 0, 0, 0, 0, 1, 2]);
  });

  test("a provider error that is not retried ends print mode with its message", async () => {
    const script = { passes: [{ error: { message: "no such luck", times: 1 } }] };

    const result = await piPrint({ home, cwd, script, product: false, prompt: "go" });

    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("no such luck");
  });

  test("RPC mode plays on after a compaction", async () => {
    const script = { passes: [{ text: "First." }, { text: "Second." }, { text: "Third." }] };
    const settings = { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 } };
    const rpc = startRpc({ home, cwd, script, settings, product: false });
    try {
      for (const message of ["one", "two"]) {
        await rpc.send({ type: "prompt", message });
        await rpc.waitFor(({ type }) => type === "agent_end");
      }
      await rpc.send({ type: "compact" });
      await rpc.send({ type: "prompt", message: "three" });
      await rpc.waitFor(({ type }) => type === "agent_end");

      expect((await rpc.send({ type: "get_last_assistant_text" }))["data"]).toEqual({ text: "Third." });
      expect(requests(home).flatMap(({ pass }) => pass ?? [])).toEqual([0, 1, 2]);
      expect(requests(home).some(({ kind }) => kind === "summary")).toBe(true);
      expect(await rpc.quit()).toEqual({ code: 0, signal: null });
    } finally {
      await rpc.stop();
    }
  });

  test("an RPC wait that fails reports what Pi wrote", async () => {
    const rpc = startRpc({ home, cwd, script: { passes: [] }, product: false });
    try {
      await rpc.send({ type: "prompt", message: "one" });
      await rpc.waitFor(({ type }) => type === "agent_end");
      await expect(rpc.waitFor(({ type }) => type === "never", 50)).rejects.toThrow(/"agent_end"/);
      await expect(rpc.send({ type: "set_model", provider: "none", modelId: "none" })).rejects.toThrow(/not found/);
    } finally {
      await rpc.stop();
    }
  });

  test("stopping leaves nothing behind, not even a command of the agent's shell", async () => {
    const command = "echo $$ > started; sleep 600";
    const script = { passes: [{ steps: [[{ tool: "bash", arguments: { command } }]] }] };
    const rpc = startRpc({ home, cwd, script, product: false });
    try {
      await rpc.send({ type: "prompt", message: "sleep" });
      await expect.poll(() => existsSync(join(cwd, "started")), { timeout: 20_000 }).toBe(true);
      rpc.kill("SIGKILL");
      await expect.poll(() => processesOf(home).includes(rpc.pid ?? 0)).toBe(false);
      expect(processesOf(home)).not.toEqual([]);
    } finally {
      await rpc.stop();
    }
  });

  test("a terminal shows the answer, and Escape aborts a slow pass", async () => {
    const script = { passes: [{ text: "Hello from $MAIN." }, { text: "Too late.", slowMs: 30_000 }] };
    const pi = await startTmux({ home, cwd, script, product: false });
    try {
      await pi.type("say hello");
      await pi.keys("Enter");
      await pi.waitFor(/Hello from/);

      await pi.type("take your time");
      await pi.keys("Enter");
      await pi.waitFor(/Scripted wait/);
      await pi.keys("Escape");
      expect(await pi.waitFor(/abort/i, 5_000)).not.toContain("Too late.");
      expect(await pi.alive()).toBe(true);
    } finally {
      await pi.stop();
    }
  });
});
