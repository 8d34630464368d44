import type { Interruption } from "./stop.ts";

/** How the agent's work on one message ended. */
export type TurnEnd =
  /** `gap` aborts, with an {@link Interruption} as its reason, when the user steps in before the next turn. */
  | { readonly kind: "completed"; readonly gap: AbortSignal }
  | { readonly kind: "interrupted"; readonly by: Interruption }
  | { readonly kind: "failed"; readonly message: string };

/** What a run needs of a session with an agent. */
export interface Agent {
  /** Sends `message` as a visible user message and resolves when the agent has done with it. */
  turn(message: string): Promise<TurnEnd>;
}
