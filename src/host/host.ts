import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

/** Where a session shows itself. */
export type Mode = "tui" | "rpc" | "json" | "print";

/**
 * Whether `agent_end` handlers are awaited and `agent_settled` exists. Both came with entry renderers, which is
 * what can be tested for; 0.73.1 has none of the three.
 */
export function awaitsAgentEnd(pi: ExtensionAPI): boolean {
  return "registerEntryRenderer" in pi && typeof pi.registerEntryRenderer === "function";
}

/** 1.6.0 tells; on 0.73.1 print and JSON mode differ only in the command line. */
export function modeOf(ctx: ExtensionContext): Mode {
  if ("mode" in ctx && typeof ctx.mode === "string") return ctx.mode as Mode;
  if (ctx.hasUI) return process.argv.includes("rpc") ? "rpc" : "tui";
  const at = process.argv.indexOf("--mode");
  return at >= 0 && process.argv[at + 1] === "json" ? "json" : "print";
}

/**
 * Writes to the real standard output, which both hosts divert to standard error in print mode.
 *
 * Only for print mode: in JSON and RPC mode it would break the stream. `fs.writeSync(1, …)` reaches it too but
 * cuts off at the pipe's capacity.
 */
export function writeStdout(text: string): Promise<void> {
  const stream = Object.getPrototypeOf(process.stdout) as NodeJS.WriteStream;
  return new Promise((resolve, reject) => {
    stream.write.call(process.stdout, text, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
