import type { Oid } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { journalIds, journalPath, NewerJournalError, readRecords } from "../journal/journal.ts";
import { type Liveness, liveness, toOwner } from "../journal/owner.ts";
import { isPending, type State } from "../landing/state.ts";
import type { RunIdentity, RunRecord } from "./record.ts";
import type { Stop } from "./stop.ts";

/** Where a run is, as its journal has it. */
export type RunStatus =
  /** Its process is at work. */
  | "running"
  /** Its process is gone, in the middle of an iteration. */
  | "interrupted"
  /** Its process is gone, in the middle of its landing. */
  | "landing-interrupted"
  /** Somebody began to take it back, and has not ended; whoever does holds the repository lock meanwhile. */
  | "undo-interrupted"
  /** It ended without landing: branch and worktree are kept. */
  | "preserved"
  | "landed"
  /** It ended without a commit; nothing of it is left. */
  | "nothing"
  /** Taken back, or thrown away, on the user's word. */
  | "undone"
  | "discarded";

export interface KnownRun {
  readonly run: RunIdentity;
  readonly status: RunStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The newest recorded commit. */
  readonly tip: Oid;
  readonly iterations: number;
  readonly stop: Stop | undefined;
  /** The last recorded state of its landing. */
  readonly landing: State | undefined;
  /** The last recorded state of taking it back. */
  readonly undo: State | undefined;
  readonly owner: Liveness;
}

export interface KnownRuns {
  /** Newest first. */
  readonly runs: readonly KnownRun[];
  /** Journals that cannot be read, with the reason; they are left alone. */
  readonly unreadable: readonly { readonly id: string; readonly why: string }[];
}

/** Every run of the repository that has a journal. One damaged journal does not hide the others. */
export async function knownRuns({ commonDir }: Repository): Promise<KnownRuns> {
  const runs: KnownRun[] = [];
  const unreadable: { id: string; why: string }[] = [];
  for (const id of await journalIds(commonDir)) {
    try {
      const records = await readRecords(journalPath(commonDir, id));
      const known = await knownRun(
        records.map(({ record }) => toRunRecord(record)),
        records[0]?.at ?? 0,
      );
      if (known) runs.push(known);
    } catch (error) {
      if (!(error instanceof NewerJournalError || error instanceof SyntaxError)) throw error;
      unreadable.push({ id, why: error.message });
    }
  }
  return { runs: runs.sort((a, b) => b.startedAt - a.startedAt), unreadable };
}

/** `undefined` for the journal of an integration, which is no run. */
async function knownRun(records: readonly RunRecord[], startedAt: number): Promise<KnownRun | undefined> {
  const [first] = records;
  if (first?.type !== "started") return undefined;
  const born = records.findLast((record) => record.type === "prepared")?.born;
  const run = born === undefined ? first.run : { ...first.run, born };
  const resumed = records.findLastIndex(({ type }) => type === "resumed");
  const resumption = records[resumed];
  const owner = await liveness(resumption?.type === "resumed" ? resumption.owner : run.owner);
  const iterations = records.filter(({ type }) => type === "iteration").length;
  const tip = records.reduce((last, record) => ("tip" in record ? record.tip : last), run.base);
  const since = records.slice(Math.max(0, resumed)); // what ended before it was resumed has not ended
  const stop = since.findLast((record) => record.type === "stopped")?.stop;
  const landing = since.findLast((record) => record.type === "landing")?.state;
  const undo = since.findLast((record) => record.type === "undo")?.state;
  const status = statusOf(since, landing, undo, owner);
  return { run, status, startedAt, tip, iterations, stop, landing, undo, owner };
}

function statusOf(
  records: readonly RunRecord[],
  landing: State | undefined,
  undo: State | undefined,
  owner: Liveness,
): RunStatus {
  const last = records.at(-1)?.type;
  if (last === "cleaned") return "nothing";
  if (last === "discarded") return "discarded";
  if (undo !== undefined && isPending(undo)) return "undo-interrupted";
  if (undo?.step === "landed") return "undone";
  if (landing !== undefined && isPending(landing)) return owner === "gone" ? "landing-interrupted" : "running";
  if (landing?.step === "landed") return "landed";
  if (last === "stopped" || last === "landing") return "preserved";
  return owner === "gone" ? "interrupted" : "running";
}

/**
 * A line of a run's journal. The journal is trusted as much as the git directory that holds it, so only what
 * tells its lines apart is looked at.
 *
 * @throws {SyntaxError} on anything else.
 */
function toRunRecord(value: unknown): RunRecord {
  const types: readonly RunRecord["type"][] = [
    "started",
    "prepared",
    "iteration",
    "stopped",
    "landing",
    "undo",
    "resumed",
    "cleaned",
    "discarded",
  ];
  if (typeof value !== "object" || value === null || !("type" in value) || !types.some((type) => type === value.type)) {
    throw new SyntaxError(`not a record of a run: ${JSON.stringify(value)}`);
  }
  const record = value as RunRecord;
  if (record.type === "started") toOwner(record.run.owner);
  return record;
}
