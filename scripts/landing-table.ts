import { type BranchName, type Oid, toBranchName, toOid } from "../src/git/names.ts";
import type { Event, Outcome, Pending, Plan, State } from "../src/landing/state.ts";
import { MAX_ATTEMPTS, TRANSITIONS, transition } from "../src/landing/transition.ts";

const oid: Oid = toOid("1".repeat(40));
const branch: BranchName = toBranchName("topic");
const request = { id: "id", source: branch, target: branch, policy: "auto" } as const;
const outcome: Outcome = { kind: "already-integrated", sourceTip: oid, targetTip: oid, equalTree: false };
const reason = { kind: "aborted" } as const;

/** Every row of the table, with where it leads: found by taking it, at the first attempt and at the last. */
export const STEPS: readonly { readonly from: string; readonly event: string; readonly to: readonly string[] }[] =
  Object.entries(TRANSITIONS).flatMap(([from, row]) =>
    Object.keys(row).map((event) => ({
      from,
      event,
      to: destinations(from as Pending["step"], event as Event["type"]),
    })),
  );

function destinations(step: Pending["step"], type: Event["type"]): string[] {
  return [...new Set([1, MAX_ATTEMPTS].map((attempt) => transition(stateAt(step, attempt), eventOf(type)).step))];
}

function stateAt(step: Pending["step"], attempt: number): Pending {
  const plan: Plan = {
    sourceTip: oid,
    targetTip: oid,
    mergeBase: oid,
    build: "merge",
    sign: false,
    drivers: [],
    attempt,
    notes: [],
  };
  const state = { request, plan, attempt, outcome, reason, candidate: { oid, rewritten: [] }, notes: [] };
  return { step, ...state } as State as Pending;
}

function eventOf(type: Event["type"]): Event {
  const plan = (stateAt("building", 1) as Extract<State, { step: "building" }>).plan;
  return { type, plan, outcome, reason, candidate: { oid, rewritten: [] }, notes: [], to: oid } as Event;
}
