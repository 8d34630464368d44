import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import type { Agent, TurnEnd } from "../run/agent.ts";
import type { Interruption } from "../run/stop.ts";
import { awaitsAgentEnd } from "./host.ts";
import { retryWaitMs } from "./retry.ts";

/** A session that a run drives. */
export interface SessionAgent extends Agent {
  /** The user steps in: ends the turn, or what the run does between two. */
  interrupt(by: Interruption): void;
  /** The session goes away: nothing of it may be used any more. */
  sessionEnded(): void;
  /** The run is over: the host may settle. */
  close(): void;
}

/** The part of both hosts' messages that matters here. */
interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly stopReason?: string;
  readonly errorMessage?: string;
}

/** How long a host may take to begin with a message before it is taken for refused (no key, another extension). */
const BEGIN_LIMIT_MS = 30_000;
const POLL_MS = 30;

/**
 * Follows the turns of a session from the host's events.
 *
 * 1.6.0 awaits `agent_end`: the session stays busy while the run works between two turns, and what is sent then
 * is delivered as a follow-up. 0.73.1 does not: the session goes idle, and a message starts a new prompt.
 */
export function watchTurns(pi: ExtensionAPI): { open(ctx: ExtensionContext): SessionAgent } {
  let open: Session | undefined;
  const awaited = awaitsAgentEnd(pi);
  pi.on("message_start", ({ message }) => open?.messageStarted(message as Message));
  pi.on("agent_start", () => open?.agentStarted());
  pi.on("agent_end", ({ messages }, ctx) => open?.agentEnded(messages as readonly Message[], ctx));
  pi.on("session_before_compact", () => open?.compacting(true));
  pi.on("session_compact", () => open?.compacting(false));
  if (awaited) {
    const on = pi.on as unknown as (event: string, handler: (event: { aborted?: boolean }) => void) => void;
    on("session_compact_failed", () => open?.compacting(false));
    on("agent_settled", ({ aborted = false }) => open?.settled(aborted));
  }
  return {
    open(ctx) {
      const session = sessionOn(pi, ctx, awaited, () => {
        if (open === session) open = undefined;
      });
      open = session;
      return session;
    },
  };
}

interface Session extends SessionAgent {
  messageStarted(message: Message): void;
  agentStarted(): void;
  agentEnded(messages: readonly Message[], ctx: ExtensionContext): Promise<void> | undefined;
  settled(aborted: boolean): void;
  compacting(now: boolean): void;
}

function sessionOn(pi: ExtensionAPI, ctx: ExtensionContext, awaited: boolean, onClose: () => void): Session {
  let expected: string | undefined;
  let begun = false;
  let resolveTurn: ((end: TurnEnd) => void) | undefined;
  let interruption: Interruption | undefined;
  let gap: AbortController | undefined;
  let closeGap: (() => void) | undefined;
  let failure: string | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isCompacting = false;

  const end = (turn: TurnEnd): void => {
    clearTimeout(timer);
    const resolve = resolveTurn;
    resolveTurn = undefined;
    begun = false;
    failure = undefined;
    resolve?.(turn);
  };
  const interrupted = (): void => end({ kind: "interrupted", by: interruption ?? { kind: "cancelled-by-interrupt" } });
  const openGap = (signal?: AbortSignal): AbortSignal => {
    const controller = new AbortController();
    gap = controller;
    const abort = (): void => controller.abort(interruption ?? { kind: "cancelled-by-interrupt" });
    if (signal?.aborted || interruption !== undefined) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return controller.signal;
  };
  const failLater = (waitMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isCompacting) return failLater(waitMs);
      // Whatever retry the host still plans would run without the redirection of a run that is over.
      ctx.abort();
      end({ kind: "failed", message: failure ?? "the agent did not answer" });
    }, waitMs);
  };
  /** A message that the host does not take (no key, another extension) never shows up in an event. */
  const watchBeginning = (): void => {
    let idleSince = Date.now();
    const check = (): void => {
      if (begun || resolveTurn === undefined) return;
      if (!ctx.isIdle() || isCompacting) idleSince = Date.now();
      if (Date.now() - idleSince < BEGIN_LIMIT_MS) timer = setTimeout(check, POLL_MS * 10);
      else end({ kind: "failed", message: "Pi did not start on the message; see the error above it" });
    };
    timer = setTimeout(check, POLL_MS * 10);
  };
  const whenIdle = (then: () => void): void => {
    if (ctx.isIdle() && !isCompacting) then();
    else timer = setTimeout(() => whenIdle(then), POLL_MS);
  };

  return {
    turn(message) {
      const result = new Promise<TurnEnd>((resolve) => {
        resolveTurn = resolve;
      });
      if (interruption !== undefined) {
        interrupted();
        return result;
      }
      expected = message;
      begun = false;
      failures = 0;
      gap = undefined;
      pi.sendUserMessage(message, { deliverAs: "followUp" });
      closeGap?.();
      closeGap = undefined;
      watchBeginning();
      return result;
    },
    interrupt(by) {
      interruption ??= by;
      gap?.abort(interruption);
      if (resolveTurn === undefined) return;
      if (!ctx.isIdle() || begun) ctx.abort(); // also ends the wait before a retry
      if (ctx.isIdle() && begun) interrupted();
      // A message that was sent and has not begun is aborted when it does.
    },
    sessionEnded() {
      interruption ??= { kind: "session-ended" };
      gap?.abort(interruption);
      interrupted();
    },
    close() {
      clearTimeout(timer);
      closeGap?.();
      onClose();
    },
    messageStarted(message) {
      if (expected === undefined || message.role !== "user" || textOf(message) !== expected) return;
      begun = true;
      expected = undefined;
      if (interruption !== undefined) ctx.abort();
    },
    agentStarted() {
      if (begun) clearTimeout(timer); // a retry has begun
    },
    agentEnded(messages, endCtx) {
      if (!begun || resolveTurn === undefined) return undefined;
      const last = messages.findLast(({ role }) => role === "assistant");
      if (last?.stopReason === "aborted") {
        interrupted();
        return undefined;
      }
      if (last?.stopReason === "error") {
        failure = last.errorMessage ?? "the provider failed";
        failures++;
        if (!awaited) failLater(retryWaitMs(ctx.cwd, failures));
        return undefined;
      }
      failure = undefined;
      if (!awaited) {
        // The handler must return for the session to go idle; compaction, if any, starts right after it.
        timer = setTimeout(() => whenIdle(() => end({ kind: "completed", gap: openGap() })), POLL_MS);
        return undefined;
      }
      const closed = new Promise<void>((resolve) => {
        closeGap = resolve;
      });
      end({ kind: "completed", gap: openGap(endCtx.signal) });
      return closed;
    },
    settled(aborted) {
      if (resolveTurn === undefined) return;
      if (aborted) interrupted();
      else if (begun && failure !== undefined) end({ kind: "failed", message: failure });
    },
    compacting(now) {
      isCompacting = now;
    },
  };
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: string; text?: string }) => (part.type === "text" ? (part.text ?? "") : ""))
    .join("");
}
