import type { ExtensionAPI, ToolCallEvent } from "@mariozechner/pi-coding-agent";
import { expect, test } from "vitest";
import { type Redirection, redirectTools } from "../../src/host/redirect-tools.ts";

const redirection: Redirection = {
  redirect: { mains: ["/src/shop"], worktree: "/src/shop.worktrees/run", subdirectory: "" },
  allowTools: ["web_search"],
  isTracked: async () => true,
};

/** What a run makes of a call of a tool that comes from `source`. */
async function call(toolName: string, source: string, current: Redirection | undefined = redirection) {
  let handler: ((event: ToolCallEvent) => Promise<{ block?: boolean; reason?: string } | undefined>) | undefined;
  const pi = {
    on: (event: string, registered: typeof handler) => {
      if (event === "tool_call") handler = registered;
    },
    getAllTools: () => [{ name: toolName, sourceInfo: { source } }],
  };
  redirectTools(pi as unknown as ExtensionAPI, () => current, new Set(["create_worktree"]));
  return handler?.({ type: "tool_call", toolCallId: "1", toolName, input: { path: "/src/shop/a.txt" } });
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
