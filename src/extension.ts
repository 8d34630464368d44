import type { ExtensionAPI, ToolDefinition } from "@mariozechner/pi-coding-agent";
import { agentTools } from "../tools/index.ts";
import { type ActiveRuns, watchRuns } from "./commands/active-run.ts";
import { registerRecovery } from "./commands/recovery.ts";
import { registerRuns } from "./commands/runs.ts";
import { registerUltrathink } from "./commands/ultrathink.ts";
import { loadTui } from "./host/tui.ts";
import { registerMessageRenderer } from "./ui/message-renderer.ts";

export default async function ultratree(pi: ExtensionAPI): Promise<void> {
  const tui = await loadTui();
  registerMessageRenderer(pi, tui);
  let runs: ActiveRuns | undefined;
  const tools = agentTools({ env: process.env, activeRun: () => runs?.entered() });
  runs = watchRuns(pi, new Set(tools.map(({ name }) => name)));
  for (const tool of tools satisfies ToolDefinition[]) pi.registerTool(tool);
  registerUltrathink(pi, runs, tui);
  registerRuns(pi, runs, tui);
  registerRecovery(pi);
}
