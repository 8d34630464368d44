import type { TurnEnd } from "../run/agent.ts";
import type { Interruption } from "../run/stop.ts";
import { type Message, textOf } from "./message.ts";
import type { SessionAgent, TurnHost } from "./session-agent.ts";

type Phase =
  /** The run works by itself, or is over. */
  | { readonly at: "gap" }
  /** The host is given the message once it is idle: one that it queued would survive an abort. */
  | { readonly at: "waiting"; readonly message: string }
  | { readonly at: "sent"; readonly message: string }
  | { readonly at: "working" }
  /** Somebody else has aborted the turn: the user, or the end of the session that follows. */
  | { readonly at: "aborted" }
  /** The provider failed. When the host has not gone on after `waitMs` of quiet, it will not. */
  | { readonly at: "failing"; readonly error: string; readonly waitMs: number }
  /** The agent has answered. When the host has not gone on after `waitMs` of quiet, it will not. */
  | { readonly at: "settling"; readonly waitMs: number };

const POLL_MS = 30;
/** A host that is idle for so long with a message has refused it (no key, another extension). */
const BEGIN_LIMIT_MS = 30_000;
/** A host that is idle for so long in the middle of a turn has dropped it without a word. */
const LOST_LIMIT_MS = 60_000;
/** 1.6.0 aborts first and then tells that the session ends. */
const SESSION_END_MS = 60;
/** 0.73.1 is idle as soon as its own `agent_end` handler has returned. */
const SETTLE_MS = POLL_MS;
/** 0.73.1 asks for credentials before it says that it compacts. */
const COMPACTION_BEGIN_MS = 5_000;
/** 0.73.1 goes on 100 ms after a compaction, when it does. */
const AFTER_COMPACTION_MS = 500;
/** 0.73.1 does not tell that a compaction has failed. */
const COMPACTION_LIMIT_MS = 5 * 60_000;

/**
 * The turns of one run in one session, from the host's events.
 *
 * A turn has ended when the host has nothing more to do for it: neither a retry nor a compaction. Messages are
 * only ever given to an idle host, as prompts of their own.
 */
export class Turns implements SessionAgent {
  readonly #host: TurnHost;
  #phase: Phase = { at: "gap" };
  /** Since when the host has been idle and silent. */
  #quietSince = 0;
  #compactingSince: number | undefined;
  #failures = 0;
  #interruption: Interruption | undefined;
  #gap: AbortController | undefined;
  #letGo: (() => void) | undefined;
  #resolve: ((end: TurnEnd) => void) | undefined;
  #clock: NodeJS.Timeout | undefined;
  #gapAbort: NodeJS.Timeout | undefined;

  constructor(host: TurnHost) {
    this.#host = host;
  }

  turn(message: string): Promise<TurnEnd> {
    const end = new Promise<TurnEnd>((resolve) => {
      this.#resolve = resolve;
    });
    if (this.#interruption !== undefined) {
      this.#interrupted();
      return end;
    }
    this.#gap = undefined;
    this.#failures = 0;
    this.#clock = setInterval(() => this.#look(), POLL_MS);
    this.#enter({ at: "waiting", message });
    this.#release();
    this.#look();
    return end;
  }

  interrupt(by: Interruption): void {
    this.#interruption ??= by;
    this.#gap?.abort(this.#interruption);
    switch (this.#phase.at) {
      case "gap":
      case "sent": // aborted as soon as it begins: before that, the host could not be told what to abort
        break;
      case "waiting":
      case "aborted":
        this.#interrupted();
        break;
      default:
        this.#host.abort(); // also ends the wait before a retry
        if (this.#host.isIdle()) this.#interrupted();
    }
  }

  sessionEnded(): void {
    this.#interruption ??= { kind: "session-ended" };
    clearTimeout(this.#gapAbort);
    this.#gap?.abort(this.#interruption);
    if (this.#phase.at !== "gap") this.#host.abort();
    this.#interrupted();
  }

  close(): void {
    if (this.#phase.at === "sent") this.#host.abandon(this.#phase.message);
    clearInterval(this.#clock);
    clearTimeout(this.#gapAbort);
    this.#phase = { at: "gap" };
    this.#release();
  }

  messageStarted(message: Message): void {
    if (this.#phase.at !== "sent" || message.role !== "user" || textOf(message) !== this.#phase.message) return;
    this.#enter({ at: "working" });
    if (this.#interruption !== undefined) this.#host.abort();
  }

  agentStarted(): void {
    this.#compactingSince = undefined;
    if (this.#phase.at === "failing" || this.#phase.at === "settling") this.#enter({ at: "working" });
  }

  /**
   * @param signal aborts on Escape while the handler is awaited.
   * @returns what the handler has to wait for.
   */
  agentEnded(messages: readonly Message[], signal?: AbortSignal): Promise<void> | undefined {
    if (this.#phase.at !== "working") return undefined;
    const answers = messages.filter(({ role }) => role === "assistant");
    const last = answers.at(-1);
    if (last === undefined || last.stopReason === "aborted") {
      this.#aborted();
    } else if (last.stopReason === "error") {
      // The host counts errors in a row: an answer in between starts a new row.
      this.#failures = answers.length > 1 ? 1 : this.#failures + 1;
      const waitMs = this.#host.retryWaitMs(this.#failures);
      this.#enter({ at: "failing", error: last.errorMessage ?? "the provider failed", waitMs });
    } else if (this.#host.awaits && last.stopReason !== "length") {
      return this.#completed(signal);
    } else {
      // 1.6.0 may compact and go on when an answer was cut off; 0.73.1 is not idle before the handler returns.
      this.#enter({ at: "settling", waitMs: this.#host.compactionDue() ? COMPACTION_BEGIN_MS : SETTLE_MS });
    }
    return undefined;
  }

  /** The host has nothing more to do; only from one that {@link TurnHost.awaits}. */
  settled(aborted: boolean): void {
    if (aborted) this.#aborted();
    else if (this.#phase.at === "failing") this.#failed(this.#phase.error);
    else if (this.#phase.at === "settling") this.#completed();
    else this.#look();
  }

  compacting(now: boolean): void {
    // 0.73.1 aborts the turn for the user's own /compact and reports no end of it.
    if (now && this.#phase.at === "working" && !this.#host.awaits) this.#interrupted();
    this.#compactingSince = now ? Date.now() : undefined;
    if (this.#phase.at === "settling") this.#enter({ at: "settling", waitMs: AFTER_COMPACTION_MS });
    this.#quietSince = Date.now();
  }

  /** Decides by the clock what no event tells. */
  #look(): void {
    const now = Date.now();
    const compacting = this.#compactingSince !== undefined && now - this.#compactingSince < COMPACTION_LIMIT_MS;
    if (compacting || !this.#host.isIdle()) {
      this.#quietSince = now;
      return;
    }
    const phase = this.#phase;
    const quietMs = now - this.#quietSince;
    switch (phase.at) {
      case "waiting":
        this.#enter({ at: "sent", message: phase.message });
        this.#host.send(phase.message);
        break;
      case "sent":
        if (quietMs >= BEGIN_LIMIT_MS) this.#refused(phase.message);
        break;
      case "working":
        if (quietMs >= LOST_LIMIT_MS) this.#interrupted();
        break;
      case "aborted":
        if (quietMs >= SESSION_END_MS) this.#interrupted();
        break;
      case "failing":
        if (quietMs >= phase.waitMs) this.#failed(phase.error);
        break;
      case "settling":
        if (quietMs >= phase.waitMs) this.#completed();
    }
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#quietSince = Date.now();
  }

  #end(end: TurnEnd): void {
    clearInterval(this.#clock);
    this.#phase = { at: "gap" };
    this.#resolve?.(end);
    this.#resolve = undefined;
  }

  #completed(signal?: AbortSignal): Promise<void> {
    const gap = new AbortController();
    this.#gap = gap;
    if (this.#interruption !== undefined) gap.abort(this.#interruption);
    const letGo = new Promise<void>((resolve) => {
      this.#letGo = resolve;
    });
    // A host that ends the session waits for this handler before it says so.
    const abort = (): void => {
      this.#release();
      const reason: Interruption = { kind: "cancelled-by-interrupt" };
      this.#gapAbort = setTimeout(() => gap.abort(this.#interruption ?? reason), SESSION_END_MS);
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    this.#end({ kind: "completed", gap: gap.signal });
    return letGo;
  }

  #aborted(): void {
    if (this.#phase.at === "gap") return;
    if (this.#host.awaits && this.#interruption === undefined) this.#enter({ at: "aborted" });
    else this.#interrupted();
  }

  #interrupted(): void {
    this.#end({ kind: "interrupted", by: this.#interruption ?? { kind: "cancelled-by-interrupt" } });
  }

  #failed(message: string): void {
    this.#host.abort(); // whatever retry the host still plans would run without the redirection
    this.#end({ kind: "failed", message });
  }

  #refused(message: string): void {
    this.#host.abandon(message);
    if (this.#interruption !== undefined) this.#interrupted();
    else this.#end({ kind: "failed", message: "Pi did not start on the message; see the error above it" });
  }

  #release(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }
}
