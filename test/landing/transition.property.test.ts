import fc from "fast-check";
import { expect, test } from "vitest";
import { toBranchName, toOid } from "../../src/git/names.ts";
import {
  type Event,
  isPending,
  type Pending,
  type Plan,
  type State,
  type StopReason,
} from "../../src/landing/state.ts";
import { MAX_ATTEMPTS, TRANSITIONS, transition } from "../../src/landing/transition.ts";

const oid = fc.integer({ min: 1, max: 5 }).map((n) => toOid(`${n}`.padStart(40, "0")));
const request = { id: "test", source: toBranchName("topic"), target: toBranchName("main"), policy: "auto" } as const;
const reason = fc.constant<StopReason>({ kind: "aborted" });
const plan: fc.Arbitrary<Plan> = fc.record({
  sourceTip: oid,
  targetTip: oid,
  mergeBase: oid,
  build: fc.constantFrom("fast-forward", "rebase", "merge", "squash"),
  sign: fc.boolean(),
  drivers: fc.constant([]),
  attempt: fc.constant(1),
  notes: fc.constant([]),
});
const outcome = fc.record({
  kind: fc.constant("already-integrated" as const),
  sourceTip: oid,
  targetTip: oid,
  equalTree: fc.boolean(),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ type: fc.constant("planned" as const), plan }),
  fc.record({ type: fc.constant("already-integrated" as const), outcome }),
  fc.record({
    type: fc.constant("built" as const),
    candidate: fc.record({ oid, rewritten: fc.constant([]) }),
    notes: fc.constant([]),
  }),
  fc.constant<Event>({ type: "passed" }),
  fc.constant<Event>({ type: "advanced" }),
  fc.record({ type: fc.constant("target-moved" as const), to: oid }),
  fc.constant<Event>({ type: "synced", notes: [] }),
  fc.constant<Event>({ type: "restored" }),
  fc.constant<Event>({ type: "cleaned", notes: [] }),
  fc.record({ type: fc.constant("refused" as const), reason }),
);

/** Plays events on the machine; those that the table lacks must be thrown on. */
function play(events: readonly Event[]): { states: State[]; taken: Event[] } {
  let state: State = { step: "planning", attempt: 1, request };
  const states: State[] = [state];
  const taken: Event[] = [];
  for (const next of events) {
    if (!isPending(state)) break;
    const from: Pending = state;
    if (!Object.hasOwn(TRANSITIONS[from.step], next.type)) {
      expect(() => transition(from, next)).toThrow(TypeError);
      continue;
    }
    state = transition(from, numbered(next, from));
    states.push(state);
    taken.push(next);
  }
  return { states, taken };
}

/** Plans carry the attempt that planning was in. */
function numbered(next: Event, from: State): Event {
  if (next.type !== "planned" || from.step !== "planning") return next;
  return { ...next, plan: { ...next.plan, attempt: from.attempt } };
}

test("no sequence of events moves the target to a candidate that was not checked", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const { states } = play(events);
      states.forEach((state, index) => {
        if (state.step === "advancing") expect(states[index - 1]?.step).toBe("checking");
        if (state.step === "syncing") expect(states[index - 1]?.step).toBe("advancing");
      });
      const checked = states.flatMap((state) => (state.step === "checking" ? [state.candidate.oid] : []));
      const end = states.at(-1);
      if (end?.step === "landed" && end.outcome.kind !== "already-integrated") {
        expect(checked).toContain(end.outcome.to);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a target that keeps moving is planned again a bounded number of times", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const plannings = play(events).states.filter(({ step }) => step === "planning");
      expect(plannings.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
    }),
    { numRuns: 2_000 },
  );
});

test("a landing that was refused after the target had moved puts it back before it stops", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const { states } = play(events);
      states.forEach((state, index) => {
        if (state.step !== "stopped") return;
        expect(["planning", "building", "checking", "advancing", "restoring"]).toContain(states[index - 1]?.step);
      });
    }),
    { numRuns: 2_000 },
  );
});
