import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { GitError } from "../git/git-error.ts";
import { openRepository } from "../git/repository.ts";
import { prune } from "../run/prune.ts";
import { recoverRuns } from "../run/recover-runs.ts";
import { openChannel } from "../ui/channel.ts";
import { recoveryLines } from "../ui/runs.ts";

/** At the start of a session: finishes what a process that is gone has left half-done, and says so. */
export function registerRecovery(pi: ExtensionAPI): void {
  pi.on("session_start", async (_event, ctx) => {
    const channel = openChannel(pi, ctx);
    for (const line of await recovered(ctx.cwd)) channel.note(line);
  });
}

/** Outside of a repository there is nothing to look after. */
async function recovered(cwd: string): Promise<string[]> {
  try {
    const repository = await openRepository(cwd);
    const lines = recoveryLines(await recoverRuns({ repository, env: process.env }));
    await prune(repository);
    return lines;
  } catch (error) {
    if (error instanceof GitError && ["not-a-repository", "unsafe-owner", "not-found"].includes(error.kind)) return [];
    return [`an interrupted landing could not be looked after: ${error instanceof Error ? error.message : error}`];
  }
}
