import {
  type ExtensionAPI,
  type ExtensionContext,
  getAgentDir,
  SettingsManager,
  shouldCompact,
} from "@mariozechner/pi-coding-agent";
import { awaitsAgentEnd } from "./host.ts";
import { type Message, textOf } from "./message.ts";
import { retryWaitMs } from "./retry.ts";
import type { SessionAgent, TurnHost } from "./session-agent.ts";
import { Turns } from "./turns.ts";

/** Feeds the host's events, once registered, to the turns of the run that is going on. */
export function watchTurns(pi: ExtensionAPI): { open(ctx: ExtensionContext): SessionAgent } {
  let turns: Turns | undefined;
  const abandoned = new Set<string>();
  const awaits = awaitsAgentEnd(pi);
  pi.on("message_start", ({ message }, ctx) => {
    // A message of a run that is over would be worked on in the user's checkout.
    if (message.role === "user" && abandoned.delete(textOf(message as Message))) ctx.abort();
    turns?.messageStarted(message as Message);
  });
  pi.on("agent_start", () => turns?.agentStarted());
  pi.on("agent_end", ({ messages }, ctx) => turns?.agentEnded(messages as readonly Message[], ctx.signal));
  pi.on("session_before_compact", ({ signal }) => {
    turns?.compacting(true);
    signal.addEventListener("abort", () => turns?.compacting(false), { once: true });
  });
  pi.on("session_compact", () => turns?.compacting(false));
  if (awaits) {
    const on = pi.on as unknown as (event: string, handler: (event: { aborted?: boolean }) => void) => void;
    on("session_compact_failed", () => turns?.compacting(false));
    on("agent_settled", ({ aborted = false }) => turns?.settled(aborted));
  }
  return {
    open(ctx) {
      const session = new Turns(hostOf(pi, ctx, awaits, (message) => abandoned.add(message)));
      turns = session;
      return session;
    },
  };
}

function hostOf(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  awaits: boolean,
  abandon: (message: string) => void,
): TurnHost {
  return {
    awaits,
    // Queued only when another extension was quicker: the host was idle just now.
    send: (message) => pi.sendUserMessage(message, { deliverAs: "followUp" }),
    abort: () => ctx.abort(),
    isIdle: () => ctx.isIdle(),
    retryWaitMs: (failures) => retryWaitMs(ctx.cwd, failures),
    compactionDue: () => compactionDue(ctx),
    abandon,
  };
}

function compactionDue(ctx: ExtensionContext): boolean {
  const usage = ctx.getContextUsage();
  if (usage === undefined || usage.tokens === null) return false;
  const settings = SettingsManager.create(ctx.cwd, getAgentDir()).getCompactionSettings();
  return shouldCompact(usage.tokens, usage.contextWindow, settings);
}
