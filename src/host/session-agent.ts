import type { Agent } from "../run/agent.ts";
import type { Interruption } from "../run/stop.ts";

/** A session that a run drives. */
export interface SessionAgent extends Agent {
  /** The user steps in: ends the turn, or what the run does between two. */
  interrupt(by: Interruption): void;
  /** The session goes away: nothing of it may be used any more. */
  sessionEnded(): void;
  /** The run is over: the host may settle. */
  close(): void;
}

/** What the turns of a session need of its host. */
export interface TurnHost {
  /**
   * Whether the host waits for `agent_end` handlers and tells when it has settled. It then stays busy, and
   * shows it, while the run works between two turns.
   */
  readonly awaits: boolean;
  send(message: string): void;
  abort(): void;
  isIdle(): boolean;
  /** How long the host may take to try again, in milliseconds. @param failures errors in a row. */
  retryWaitMs(failures: number): number;
  /** Whether the host is about to compact, after a turn. */
  compactionDue(): boolean;
  /** A message that was sent, has not begun and must not begin any more. */
  abandon(message: string): void;
}
