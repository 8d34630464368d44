import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import type { Tui } from "../host/tui.ts";
import { MESSAGE_TYPE } from "./channel.ts";
import { hangingLines } from "./hanging.ts";

const LABEL = " ultrathink  ";

/** Shows this package's messages as they are, line by line, the first one in the accent colour. */
export function registerMessageRenderer(pi: ExtensionAPI, { wrapTextWithAnsi }: typeof Tui): void {
  pi.registerMessageRenderer(MESSAGE_TYPE, ({ content }, _options, theme) => {
    const text =
      typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return {
      render(width) {
        // On a narrow terminal the text needs the room; no line may be wider than it.
        const label = width < 50 ? " " : LABEL;
        const columns = Math.max(1, width - label.length - 1);
        return text.split("\n").flatMap((line, at) => {
          const color = at === 0 ? "accent" : "muted";
          const lines = hangingLines(line, columns, wrapTextWithAnsi).map((part) => theme.fg(color, part));
          return lines.map((part, row) => (at + row === 0 ? theme.fg(color, label) : " ".repeat(label.length)) + part);
        });
      },
      invalidate: () => undefined,
    };
  });
}
