import { type End, type Event, isPending, type Pending, type State } from "./state.ts";
import { transition } from "./transition.ts";

/** Does a state's one job and reports what happened. Safe to repeat: a crash may repeat it. */
export type Perform = (state: Pending) => Promise<Event>;

/** Puts a state on disk; resolves once it is there. */
export type Record = (state: State) => Promise<void>;

/** Runs `state` to an end. Resuming after a crash is calling this with the last recorded state. */
export async function runLanding(state: State, perform: Perform, record: Record): Promise<End> {
  await record(state);
  while (isPending(state)) {
    state = transition(state, await perform(state));
    await record(state);
  }
  return state;
}
