import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

/** Has the system prompt name `cwd()` as the working directory while that is a directory. */
export function redirectPrompt(pi: ExtensionAPI, cwd: () => string | undefined): void {
  pi.on("before_agent_start", (event, ctx) => {
    const directory = cwd();
    if (directory === undefined) return undefined;
    const options: object = event.systemPromptOptions;
    if ("sections" in options) {
      // 1.6.0: holds for queued follow-ups too, and is taken back with the next prompt of the user's.
      Object.assign(options, { cwd: directory });
      return undefined;
    }
    const line = (path: string) => `Current working directory: ${path.replaceAll("\\", "/")}`;
    return { systemPrompt: event.systemPrompt.replace(line(ctx.cwd), () => line(directory)) };
  });
}
