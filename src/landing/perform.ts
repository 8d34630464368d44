import { GitError } from "../git/git-error.ts";
import type { Repository } from "../git/repository.ts";
import { advance } from "./advance.ts";
import { build } from "./build.ts";
import { clean } from "./clean.ts";
import { plan } from "./plan.ts";
import type { Perform } from "./run.ts";
import type { Event, Pending } from "./state.ts";
import { restore, sync } from "./sync.ts";

export interface LandingDeps {
  readonly repository: Repository;
  /** Ends a landing that has not moved anything yet; afterwards it is finished or put back. */
  readonly signal?: AbortSignal | undefined;
}

/** The effect of each state, on a real repository. */
export function performIn({ repository, signal }: LandingDeps): Perform {
  const steady = repository.with({ signal: undefined });
  const interruptible = repository.with({ signal });
  const effect = (state: Pending): Promise<Event> => {
    switch (state.step) {
      case "planning":
        return plan(interruptible, state.request, state.attempt);
      case "building":
        return build(interruptible, state.request, state.plan);
      case "checking":
        return Promise.resolve({ type: "passed" });
      case "advancing":
        return advance(steady, state.request, state.plan, state.candidate);
      case "syncing":
        return sync(steady, state.plan, state.candidate);
      case "restoring":
        return restore(steady, state.request, state.plan, state.candidate);
      case "cleaning":
        return clean(steady, state.request, state.outcome);
    }
  };
  return async (state) => {
    const movedNothing = state.step === "planning" || state.step === "building" || state.step === "checking";
    if (movedNothing && signal?.aborted) return { type: "refused", reason: { kind: "aborted" } };
    return effect(state).catch((error: unknown) => {
      const aborted = error instanceof GitError && error.command.exit.kind === "aborted";
      if (movedNothing && aborted) return { type: "refused", reason: { kind: "aborted" } };
      throw error;
    });
  };
}
