import type { Repository } from "../git/repository.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { HolderLockedError } from "../landing/holder-index.ts";
import { finishInterrupted, type IntegrateDeps, interruptedIntegrations } from "../landing/integrate.ts";
import { recoverLanding } from "../landing/recover.ts";
import type { End, State } from "../landing/state.ts";
import { type KnownRun, knownRuns } from "./known-runs.ts";
import { recorderFor } from "./record.ts";

export interface Recovery {
  /** Landings that a process which is gone had left half-done, and what became of each. */
  readonly landings: readonly { readonly known: KnownRun; readonly end: End }[];
  /** Could not be finished, because a git is at work in the holder. Tried again at the next start. */
  readonly waiting: readonly { readonly known: KnownRun; readonly why: string }[];
  /** Runs that stopped in an iteration: kept, and nothing starts by itself. */
  readonly interrupted: readonly KnownRun[];
  /** Integrations that were half-done. */
  readonly integrations: readonly End[];
}

/** Finishes or undoes what processes that are gone have left half-done. Runs of living ones are not touched. */
export async function recoverRuns(deps: IntegrateDeps): Promise<Recovery> {
  const { repository } = deps;
  if (!(await hasWork(repository))) return { landings: [], waiting: [], interrupted: [], integrations: [] };
  return withRepositoryLock(repository.commonDir, async () => {
    const landings: Recovery["landings"][number][] = [];
    const waiting: Recovery["waiting"][number][] = [];
    // Read under the lock: another process may have been recovering meanwhile.
    const { runs } = await knownRuns(repository);
    for (const known of runs) {
      const halfDone = halfDoneIn(known);
      if (halfDone === undefined) continue;
      const { type, last } = halfDone;
      const record = recorderFor(repository, known.run.id);
      try {
        const end = await recoverLanding(deps, last, (state) => record({ type, state }));
        landings.push({ known, end });
      } catch (error) {
        if (!(error instanceof HolderLockedError)) throw error;
        waiting.push({ known, why: error.message });
      }
    }
    const interrupted = runs.filter(({ status }) => status === "interrupted");
    return { landings, waiting, interrupted, integrations: await finishInterrupted(deps) };
  });
}

/** What a dead process has left of a landing, or of taking one back. */
function halfDoneIn({ status, landing, undo }: KnownRun): { type: "landing" | "undo"; last: State } | undefined {
  if (status === "landing-interrupted" && landing !== undefined) return { type: "landing", last: landing };
  if (status === "undo-interrupted" && undo !== undefined) return { type: "undo", last: undo };
  return undefined;
}

/** A look without the lock, so that a start with nothing to do waits for nobody. */
async function hasWork(repository: Repository): Promise<boolean> {
  const { runs } = await knownRuns(repository);
  const isHalfDone = (known: KnownRun) => known.status === "interrupted" || halfDoneIn(known) !== undefined;
  return runs.some(isHalfDone) || (await interruptedIntegrations(repository.commonDir)).length > 0;
}
