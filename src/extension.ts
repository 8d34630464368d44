import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { watchRuns } from "./commands/active-run.ts";
import { registerUltrathink } from "./commands/ultrathink.ts";
import { loadTui } from "./host/tui.ts";
import { registerMessageRenderer } from "./ui/message-renderer.ts";

export default async function ultratree(pi: ExtensionAPI): Promise<void> {
  const tui = await loadTui();
  registerMessageRenderer(pi, tui);
  const runs = watchRuns(pi, new Set());
  registerUltrathink(pi, runs, tui);
}
