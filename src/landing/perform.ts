import { treeChanges } from "../git/diff-tree.ts";
import { GitError } from "../git/git-error.ts";
import type { Repository } from "../git/repository.ts";
import { advance, type MoveContext } from "./advance.ts";
import { build } from "./build.ts";
import { check } from "./check.ts";
import { clean } from "./clean.ts";
import { plan } from "./plan.ts";
import type { Perform } from "./run.ts";
import type { Event, Pending } from "./state.ts";
import { releaseIndex, restore, sync } from "./sync.ts";

export interface LandingDeps {
  readonly repository: Repository;
  /** Environment of the check command. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends a landing that has not moved anything yet; afterwards it is finished or put back. */
  readonly signal?: AbortSignal | undefined;
  /** The first step asked for may have been done, or half done, by a process that died. */
  readonly resumed?: boolean;
  /** Receives what the check command prints. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Steps before which nothing of the user's has moved. */
const SAFE_TO_STOP: ReadonlySet<Pending["step"]> = new Set(["planning", "building", "checking"]);

/** The effect of each state, on a real repository. */
export function performIn({
  repository,
  env = process.env,
  signal,
  resumed: cutOff = false,
  onOutput,
}: LandingDeps): Perform {
  const steady = repository.with({ signal: undefined });
  const interruptible = repository.with({ signal });
  const context: MoveContext = { resumed: cutOff, changes: onceEach(treeChanges), index: undefined };
  const effect = (state: Pending): Promise<Event> => {
    switch (state.step) {
      case "planning":
        return plan(interruptible, state.request, state.attempt);
      case "building":
        return build(interruptible, state.request, state.plan);
      case "checking":
        return check(interruptible, state, { env, signal, onOutput });
      case "advancing":
        return advance(steady, state, context);
      case "syncing":
        return sync(steady, state, context);
      case "restoring":
        return restore(steady, state, context);
      case "cleaning":
        return clean(steady, state.request, state.outcome);
    }
  };
  return async (state) => {
    const safe = SAFE_TO_STOP.has(state.step);
    if (safe && signal?.aborted) return { type: "refused", reason: { kind: "aborted" } };
    try {
      const event = await effect(state);
      // The branch may have been moved before the crash, and the files only now.
      context.resumed &&= state.step === "advancing";
      // From the advance to the end of the sync, and of what puts a failed one back, nobody else may commit there.
      if (!(event.type === "advanced" || (state.step === "syncing" && event.type === "refused")))
        await releaseIndex(context);
      return event;
    } catch (error) {
      await releaseIndex(context);
      const aborted = error instanceof GitError && error.command.exit.kind === "aborted";
      if (safe && aborted) return { type: "refused", reason: { kind: "aborted" } };
      throw error;
    }
  };
}

/** The advance looks at what differs, the sync needs it again. */
function onceEach(difference: typeof treeChanges): typeof treeChanges {
  const known = new Map<string, ReturnType<typeof treeChanges>>();
  return (git, from, to) => {
    const key = `${from} ${to}`;
    const result = known.get(key) ?? difference(git, from, to);
    known.set(key, result);
    return result;
  };
}
