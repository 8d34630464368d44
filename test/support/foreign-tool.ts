import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Type } from "typebox";

/** Stands for a tool of another extension, which knows nothing of runs: it writes relative to `ctx.cwd`. */
export default function foreignTool(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "foreign_write",
    label: "Foreign write",
    description: "Writes a text file.",
    parameters: Type.Object({ path: Type.String(), text: Type.String() }),
    async execute(_toolCallId, { path, text }, _signal, _onUpdate, ctx) {
      const file = resolve(ctx.cwd, path);
      writeFileSync(file, text);
      return { content: [{ type: "text", text: `Wrote ${file}` }], details: {} };
    },
  });
}
