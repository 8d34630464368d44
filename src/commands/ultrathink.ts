import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import type { Tui } from "../host/tui.ts";
import { ultrathink } from "../run/ultrathink.ts";
import { openChannel } from "../ui/channel.ts";
import type { ActiveRuns } from "./active-run.ts";
import { FLAGS, parseArguments, usage } from "./arguments.ts";
import { awaitWithoutUi, type Begin, runInSession } from "./session-run.ts";

export function registerUltrathink(pi: ExtensionAPI, runs: ActiveRuns, tui: typeof Tui): void {
  pi.registerCommand("ultrathink", {
    description: "Work on a prompt in a git worktree of its own, review until nothing changes, then land it",
    getArgumentCompletions: (prefix) => {
      if (!/^--\w*$/.test(prefix)) return null;
      const items = FLAGS.map(({ name, help }) => ({ value: `--${name} `, label: `--${name}`, description: help }));
      return items.filter(({ label }) => label.startsWith(prefix));
    },
    async handler(text, ctx) {
      const channel = openChannel(pi, ctx);
      const parsed = parseArguments(text);
      await awaitWithoutUi(ctx, async () => {
        if (parsed.kind === "invalid") {
          await channel.refuse(`${parsed.problem}\n${usage()}`);
          return false;
        }
        if (parsed.kind === "help" || parsed.prompt === "") {
          await channel.say(usage());
          return parsed.kind === "help";
        }
        const { flags, prompt } = parsed;
        const begin: Begin = (deps, options) => ultrathink(deps, prompt, options);
        return runInSession({ ctx, channel, runs, tui, flags, begin });
      });
    },
  });
}
