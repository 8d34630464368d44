import { refTips } from "../git/for-each-ref.ts";
import type { Repository } from "../git/repository.ts";
import { deleteRef } from "../git/update-ref.ts";
import { journalIds, journalPath, NewerJournalError, readRecords, removeJournal } from "../journal/journal.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { isPending, type State } from "../landing/state.ts";
import { type KnownRun, knownRuns } from "./known-runs.ts";

/** How long what is over can be undone, in milliseconds. */
export const KEEP_MS = 30 * 24 * 60 * 60_000;

/** Runs of which nothing is left that a user would look for. */
const OVER: ReadonlySet<KnownRun["status"]> = new Set(["landed", "nothing", "undone", "discarded"]);

export interface Pruned {
  /** Ids of runs and integrations. */
  readonly ids: readonly string[];
  readonly refs: readonly string[];
}

/**
 * Forgets what has been over for longer than {@link KEEP_MS}: journals and backup references. Kept runs stay,
 * however old they are.
 *
 * @param now epoch milliseconds.
 */
export async function prune(repository: Repository, now = Date.now()): Promise<Pruned> {
  const { commonDir } = repository;
  if ((await overdue(commonDir, now)).length === 0) return { ids: [], refs: [] };
  return withRepositoryLock(commonDir, async () => {
    const kept = new Set(
      (await knownRuns(repository)).runs.filter(({ status }) => !OVER.has(status)).map(({ run }) => run.id),
    );
    const ids = (await overdue(commonDir, now)).filter((id) => !kept.has(id));
    const refs: string[] = [];
    for (const id of ids) {
      for (const { ref, oid } of await refTips(repository.git, [
        `refs/ultrathink/${id}/`,
        `refs/ultrathink/${id}-undo/`,
      ])) {
        await deleteRef(repository.git, ref, oid);
        refs.push(ref);
      }
      await removeJournal(commonDir, id);
    }
    return { ids, refs };
  });
}

/** Journals whose last record is old enough. One that cannot be read is not ours to remove. */
async function overdue(commonDir: string, now: number): Promise<string[]> {
  const found: string[] = [];
  for (const id of await journalIds(commonDir)) {
    const records = await readRecords(journalPath(commonDir, id)).catch((error: unknown) => {
      if (error instanceof NewerJournalError) return [];
      throw error;
    });
    const last = records.at(-1);
    if (last !== undefined && now - last.at > KEEP_MS && !isHalfDone(last.record)) found.push(id);
  }
  return found;
}

/** A landing that waits to be taken up. */
function isHalfDone(record: unknown): boolean {
  const { state } = record as { readonly state?: State };
  return state !== undefined && isPending(state);
}
