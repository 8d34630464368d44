import type { Event, Outcome, Pending, State, StopReason } from "./state.ts";

type Row<S extends State, Type extends Event["type"]> = (state: S, event: Extract<Event, { type: Type }>) => State;
type Table = { [S in Pending as S["step"]]: { [Type in Event["type"]]?: Row<S, Type> } };

/** A target that moves under a landing is planned again so many times in all. */
export const MAX_ATTEMPTS = 3;

/**
 * Every legal transition.
 *
 * Only `passed` leads to `advancing`: no ref moves to a commit that has not been checked. Only `advancing`
 * and `syncing` change what the user has; a refusal in `syncing` leads to `stopped` through `restoring`.
 */
export const TRANSITIONS = {
  planning: {
    planned: ({ request }, { plan }) => ({ step: "building", request, plan }),
    "already-integrated": ({ request }, { outcome }) => ({ step: "cleaning", request, outcome, notes: [] }),
    refused: ({ request }, { reason }) => ({ step: "stopped", request, reason }),
  },
  building: {
    built: (state, { candidate, notes }) => ({ ...state, step: "checking", candidate, notes }),
    "already-integrated": ({ request }, { outcome }) => ({ step: "cleaning", request, outcome, notes: [] }),
    refused: ({ request, plan }, { reason }) => ({ step: "stopped", request, plan, reason }),
  },
  checking: {
    passed: (state) => ({ ...state, step: "advancing" }),
    refused: ({ request, plan }, { reason }) => ({ step: "stopped", request, plan, reason }),
  },
  advancing: {
    advanced: (state) => ({ ...state, step: "syncing" }),
    "target-moved": ({ request, plan }, { to }) => replan(request, plan.attempt, { kind: "target-moved", to }),
    refused: ({ request, plan }, { reason }) => ({ step: "stopped", request, plan, reason }),
  },
  syncing: {
    synced: (state, { notes }) => ({
      step: "cleaning",
      request: state.request,
      outcome: outcomeOf(state),
      notes: [...state.notes, ...notes],
    }),
    refused: (state, { reason }) => ({ ...state, step: "restoring", reason }),
  },
  restoring: {
    restored: ({ request, plan, reason }) => ({ step: "stopped", request, plan, reason }),
  },
  cleaning: {
    cleaned: (state, { notes }) => ({ ...state, step: "landed", notes: [...state.notes, ...notes] }),
  },
} satisfies Table;

function replan(request: Pending["request"], attempt: number, reason: StopReason): State {
  if (attempt >= MAX_ATTEMPTS) return { step: "stopped", request, reason };
  return { step: "planning", request, attempt: attempt + 1 };
}

function outcomeOf({ plan, candidate }: Extract<State, { step: "syncing" }>): Outcome {
  const { build: kind, sourceTip, targetTip: from, holder } = plan;
  return { kind, sourceTip, from, to: candidate.oid, rewritten: candidate.rewritten, holder };
}

/** Pure. @throws {TypeError} on a pair the table lacks: that is a bug in an effect, not a git outcome. */
export function transition(state: Pending, event: Event): State {
  const rows: Partial<Record<Event["type"], Row<never, never>>> = TRANSITIONS[state.step];
  const row = rows[event.type];
  if (row === undefined) throw new TypeError(`no transition from ${state.step} on ${event.type}`);
  return row(state as never, event as never);
}
