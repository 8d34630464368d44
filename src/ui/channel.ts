import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { modeOf, writeStdout } from "../host/host.ts";

/** The custom type of every message that this package adds to a conversation. */
export const MESSAGE_TYPE = "ultrathink";

/** How a command speaks to whoever started it, whatever the mode. */
export interface Channel {
  /** What came of it: a message in the conversation, which the model reads as well. */
  report(text: string, details: unknown): Promise<void>;
  /** A line on what has happened: in the conversation with a UI, on standard error without. */
  note(text: string): void;
  /** What goes on right now; `undefined` when nothing does. */
  status(text: string | undefined): void;
  /** An answer that is not about a run. */
  say(text: string): Promise<void>;
  /** Why nothing was done. */
  refuse(text: string): Promise<void>;
}

export function openChannel(pi: ExtensionAPI, ctx: ExtensionContext): Channel {
  // Never a turn of its own: on 1.6.0 a message without this would steer the agent at work.
  const message = (text: string, details: unknown = {}) =>
    pi.sendMessage({ customType: MESSAGE_TYPE, content: text, display: true, details }, { triggerTurn: false });
  const toStderr = (text: string) => void process.stderr.write(`ultrathink: ${text.replaceAll("\n", "\n  ")}\n`);
  // In print mode nobody else writes there: Pi prints the agent's last answer only, and a report is none.
  const toStdout = async (text: string) => {
    if (modeOf(ctx) === "print") await writeStdout(`${text}\n`);
    else process.stderr.write(`${text}\n`);
  };
  return {
    async report(text, details) {
      message(text, details);
      if (modeOf(ctx) === "print") await toStdout(text);
    },
    note: (text) => (ctx.hasUI ? message(text) : toStderr(text)),
    status: (text) => {
      if (ctx.hasUI) ctx.ui.setStatus("ultrathink", text === undefined ? undefined : `ultrathink: ${text}`);
    },
    say: async (text) => (ctx.hasUI ? ctx.ui.notify(text, "info") : toStdout(text)),
    refuse: async (text) => (ctx.hasUI ? ctx.ui.notify(`ultrathink: ${text}`, "error") : toStderr(text)),
  };
}
