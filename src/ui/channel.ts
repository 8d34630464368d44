import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { modeOf, writeStdout } from "../host/host.ts";
import { printable } from "../naming/printable.ts";

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
  const message = (content: string, details: unknown = {}) =>
    pi.sendMessage({ customType: MESSAGE_TYPE, content, display: true, details }, { triggerTurn: false });
  const toStderr = (text: string) => void process.stderr.write(`ultrathink: ${text.replaceAll("\n", "\n  ")}\n`);
  // In print mode nobody else writes there: Pi prints the agent's last answer only, and a report is none.
  const toStdout = async (text: string) => {
    if (modeOf(ctx) === "print") await writeStdout(`${text}\n`);
    else process.stderr.write(`${text}\n`);
  };
  const { hasUI } = ctx;
  return {
    async report(text, details) {
      message(printable(text), details);
      if (modeOf(ctx) === "print") await toStdout(printable(text));
    },
    note: (text) => (hasUI ? message(printable(text)) : toStderr(printable(text))),
    status: (text) => {
      const shown = text === undefined ? undefined : `ultrathink: ${printable(text).replaceAll("\n", " ")}`;
      if (hasUI) ctx.ui.setStatus("ultrathink", shown);
    },
    say: async (text) => (hasUI ? ctx.ui.notify(printable(text), "info") : toStdout(printable(text))),
    refuse: async (text) => {
      if (hasUI) ctx.ui.notify(`ultrathink: ${printable(text)}`, "error");
      else toStderr(printable(text));
    },
  };
}
