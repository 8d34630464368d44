import type { ExtensionAPI, ToolCallEvent } from "@mariozechner/pi-coding-agent";
import { expect, test } from "vitest";
import { type Redirection, redirectTools } from "../../src/host/redirect-tools.ts";

const redirection: Redirection = {
  redirect: { mains: ["/src/shop"], worktree: "/src/shop.worktrees/run", subdirectory: "" },
  allowTools: ["web_search"],
  readOnly: ["/src/other"],
  sandboxed: undefined,
  isTracked: async () => true,
};

/** What a run makes of a call of a tool that comes from `source`. */
async function call(toolName: string, source: string, current: Redirection = redirection, path = "/src/shop/a.txt") {
  let handler: ((event: ToolCallEvent) => Promise<{ block?: boolean; reason?: string } | undefined>) | undefined;
  const pi = {
    on: (event: string, registered: typeof handler) => {
      if (event === "tool_call") handler = registered;
    },
    getAllTools: () => [{ name: toolName, sourceInfo: { source } }],
  };
  redirectTools(pi as unknown as ExtensionAPI, () => current, new Set(["create_worktree"]));
  return handler?.({ type: "tool_call", toolCallId: "1", toolName, input: { path } });
}

test.each([
  ["of MCP, which 1.6.0 counts as built in", "fs__write_file", "builtin"],
  ["of another extension", "deploy", "npm:deploy"],
  ["of another extension, by the name of a harmless one", "codemode", "npm:codemode"],
])("a tool %s is blocked, with the way to allow it", async (_whose, name, source) => {
  const result = await call(name, source);
  expect(result?.block).toBe(true);
  expect(result?.reason).toContain(`add "${name}" to allowTools in ~/.pi/ultrathink.json`);
});

test.each([
  ["that is allowed", "web_search", "npm:search"],
  ["of our own", "create_worktree", "npm:pi-ultratree"],
  ["that only calls other tools", "codemode", "builtin"],
  ["that can be redirected", "write", "builtin"],
  ["that can be redirected, replaced by another extension", "write", "npm:write"],
])("a tool %s passes", async (_what, name, source) => {
  expect(await call(name, source)).toBeUndefined();
});

test("a write into another worktree, or to what all of them share, is blocked; a read is not", async () => {
  const result = await call("write", "builtin", redirection, "/src/other/a.txt");
  expect(result).toEqual({
    block: true,
    reason: "/src/other is read-only during this run: write to the worktree, /src/shop.worktrees/run.",
  });
  expect(await call("read", "builtin", redirection, "/src/other/a.txt")).toBeUndefined();
});

test("PowerShell passes only as long as no sandbox is in force", async () => {
  const sandboxed = async (command: string) => command;
  expect(await call("powershell", "builtin")).toBeUndefined();
  expect(await call("powershell", "builtin", { ...redirection, sandboxed })).toMatchObject({ block: true });
});
