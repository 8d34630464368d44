import { customAlphabet } from "nanoid";
import { treeChanges } from "../git/diff-tree.ts";
import { mergeTree } from "../git/merge-tree.ts";
import type { BranchName, Oid, TreePath, WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { treeOids } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import {
  appendRecord,
  journalIds,
  journalPath,
  NewerJournalError,
  readRecords,
  removeJournal,
} from "../journal/journal.ts";
import { driverPaths } from "./drivers.ts";
import { obstacle } from "./overlap.ts";
import { performIn } from "./perform.ts";
import { plan } from "./plan.ts";
import { recoverLanding } from "./recover.ts";
import { runLanding } from "./run.ts";
import { type End, isPending, type Note, type Plan, type Request, type State, type StopReason } from "./state.ts";

export interface Branches {
  readonly source: BranchName;
  readonly target: BranchName;
}

export interface IntegrateDeps {
  readonly repository: Repository;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/** Valid in reference names and file names, also where case does not count. */
const integrationId = customAlphabet("0123456789abcdefghijklmnopqrstuvwxyz", 12);

/**
 * Brings `source` into `target` outside of any run: fast-forward where that is possible, else a merge commit.
 *
 * Journalled like a run's landing, so that one that a crash cut off is finished or put back by the next. A journal
 * stays only when there is something to undo.
 *
 * Call it under the repository lock.
 */
export async function integrate(deps: IntegrateDeps, branches: Branches): Promise<End> {
  await finishInterrupted(deps);
  const { commonDir } = deps.repository;
  const request: Request = { id: integrationId(), ...branches, policy: "integrate" };
  const record = recorderFor(commonDir, request.id);
  const end = await runLanding({ step: "planning", attempt: 1, request }, performIn(deps), record);
  if (!movedTarget(end)) await removeJournal(commonDir, request.id);
  return end;
}

/**
 * Takes up the integrations whose process died; runs are left to their own recovery.
 *
 * Call it under the repository lock: whoever was integrating held it, so an unfinished one is dead.
 */
export async function finishInterrupted(deps: IntegrateDeps): Promise<End[]> {
  const { commonDir } = deps.repository;
  const ends: End[] = [];
  for (const { id, last } of await interruptedIntegrations(commonDir)) {
    const end = await recoverLanding(deps, last, recorderFor(commonDir, id));
    if (!movedTarget(end)) await removeJournal(commonDir, id);
    ends.push(end);
  }
  return ends;
}

/** Integrations without an end; under the repository lock, those of processes that died. */
export async function interruptedIntegrations(commonDir: string): Promise<{ id: string; last: State }[]> {
  const found: { id: string; last: State }[] = [];
  for (const id of await journalIds(commonDir)) {
    const last = (await integrationStates(commonDir, id))?.at(-1);
    if (last !== undefined && isPending(last)) found.push({ id, last });
  }
  return found;
}

type IntegrationRecord = { readonly type: "landing"; readonly state: State };

function recorderFor(commonDir: string, id: string): (state: State) => Promise<void> {
  const path = journalPath(commonDir, id);
  return (state) => appendRecord(path, { type: "landing", state } satisfies IntegrationRecord);
}

/** `undefined` for the journal of a run: that one begins before its landing does. */
async function integrationStates(commonDir: string, id: string): Promise<State[] | undefined> {
  const read = await readRecords(journalPath(commonDir, id)).catch((error: unknown) => {
    if (error instanceof NewerJournalError) return []; // left alone: a newer version of this package takes it up
    throw error;
  });
  const records = read.map(({ record }) => record);
  return records.every(isIntegrationRecord) ? records.map(({ state }) => state) : undefined;
}

function isIntegrationRecord(record: unknown): record is IntegrationRecord {
  return typeof record === "object" && record !== null && "type" in record && record.type === "landing";
}

function movedTarget(end: End): boolean {
  return end.step === "landed" && end.outcome.kind !== "already-integrated";
}

/** What {@link integrate} would do now, hooks and signing apart. */
export type Preview =
  | {
      readonly kind: "already-integrated";
      readonly sourceTip: Oid;
      readonly targetTip: Oid;
      readonly equalTree: boolean;
    }
  | {
      readonly kind: "fast-forward" | "merge";
      readonly sourceTip: Oid;
      readonly targetTip: Oid;
      readonly holder: WorktreePath | undefined;
      /** That the target would get. */
      readonly paths: readonly TreePath[];
      readonly notes: readonly Note[];
    }
  | { readonly kind: "stopped"; readonly reason: StopReason };

/** Reads, and merges in the object database; no ref, no worktree and no file of the user's changes. */
export async function previewIntegration(repository: Repository, branches: Branches): Promise<Preview> {
  const event = await plan(repository, { id: "preview", ...branches, policy: "integrate" }, 1);
  if (event.type === "refused") return { kind: "stopped", reason: event.reason };
  if (event.type === "already-integrated" && event.outcome.kind === "already-integrated") return event.outcome;
  if (event.type !== "planned") throw new TypeError(`planning answered ${event.type}`);
  return previewOf(repository, event.plan);
}

async function previewOf(repository: Repository, planned: Plan): Promise<Preview> {
  const { sourceTip, targetTip, holder, build } = planned;
  const git = repository.at(holder ?? repository.topLevel ?? repository.commonDir);
  let tree = sourceTip;
  if (build !== "fast-forward") {
    const merged = await mergeTree(git, targetTip, sourceTip);
    const byDriver = merged.kind === "conflicted" ? await driverPaths(git, planned) : [];
    if (merged.kind === "conflicted") return { kind: "stopped", reason: { ...merged, byDriver } };
    const [targetTree] = await treeOids(git, [targetTip]);
    if (merged.tree === targetTree) return { kind: "already-integrated", sourceTip, targetTip, equalTree: true };
    tree = merged.tree;
  }
  const changes = await treeChanges(git, targetTip, tree);
  const paths = changes.map(({ path }) => path);
  if (holder !== undefined) {
    const reason = await obstacle(git, holder, changes, await status(git, { paths }));
    if (reason) return { kind: "stopped", reason };
  }
  const notes = (await driverPaths(git, planned)).map((decided) => ({ kind: "driver-decided", ...decided }) as const);
  return { kind: build === "fast-forward" ? build : "merge", sourceTip, targetTip, holder, paths, notes };
}
