import type { ExtensionContext } from "@mariozechner/pi-coding-agent";
import type { Tui } from "../host/tui.ts";

/**
 * Calls `onEscape` for Escape in the terminal while the session is idle, when the host does not look at it:
 * before the first turn, and on 0.73.1 between two. Elsewhere there is no terminal, and nothing happens.
 *
 * @returns stops watching.
 */
export function watchEscape(ctx: ExtensionContext, tui: typeof Tui, onEscape: () => void): () => void {
  if (!ctx.hasUI) return () => undefined;
  const unsubscribe: unknown = ctx.ui.onTerminalInput((data) => {
    if (!ctx.isIdle() || !tui.matchesKey(data, "escape")) return undefined;
    onEscape();
    return { consume: true };
  });
  return () => {
    if (typeof unsubscribe === "function") unsubscribe(); // RPC mode gives nothing back
  };
}
