import { putBenchBack } from "./bench.ts";
import { type LandingDeps, performIn } from "./perform.ts";
import { type Record, runLanding } from "./run.ts";
import { type End, isPending, type State } from "./state.ts";

/**
 * Takes up a landing whose process died, from its last recorded state: one that had moved nothing yet is
 * stopped, one that had begun to move is finished or put back.
 *
 * Call it under the repository lock, and only when the process that recorded `last` is gone.
 *
 * @throws {HolderLockedError} when a git is at work in the holder; nothing has been done then.
 */
export async function recoverLanding(deps: LandingDeps, last: State, record: Record): Promise<End> {
  if (!isPending(last)) return last;
  switch (last.step) {
    case "planning":
    case "building":
    case "checking": {
      await putBenchBack(deps.repository, last.request);
      const end: End = { step: "stopped", request: last.request, reason: { kind: "aborted" } };
      await record(end);
      return end;
    }
    case "advancing":
    case "syncing":
    case "restoring":
    case "cleaning":
      return runLanding(last, performIn({ ...deps, resumed: true }), record);
  }
}
