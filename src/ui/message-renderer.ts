import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import type { Tui } from "../host/tui.ts";
import { MESSAGE_TYPE } from "./channel.ts";

/** Shows this package's messages as they are, line by line, the first one in the accent colour. */
export function registerMessageRenderer(pi: ExtensionAPI, { Text }: typeof Tui): void {
  pi.registerMessageRenderer(MESSAGE_TYPE, ({ content }, _options, theme) => {
    const text =
      typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const [first = "", ...rest] = text.split("\n");
    const head = theme.fg("accent", `ultrathink  ${first}`);
    return new Text([head, ...rest.map((line) => theme.fg("muted", `            ${line}`))].join("\n"), 1, 0);
  });
}
