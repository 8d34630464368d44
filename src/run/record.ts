import type { BranchName, Oid, WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { appendRecord, journalPath } from "../journal/journal.ts";
import type { Owner } from "../journal/owner.ts";
import type { State } from "../landing/state.ts";
import type { Birth } from "../worktree/changes.ts";
import type { Stop } from "./stop.ts";

/** What a run is, from its first record on. */
export interface RunIdentity {
  readonly id: string;
  readonly slug: string;
  readonly branch: BranchName;
  readonly worktree: WorktreePath;
  readonly original: BranchName;
  readonly base: Oid;
  /** Where the original branch was; the base, unless another was asked for. */
  readonly originalTip: Oid;
  readonly task: string;
  readonly owner: Owner;
  /** Known, and recorded by itself, once the worktree is ready for the agent. */
  readonly born?: Birth | undefined;
}

/** Lines of a run's journal, in the order in which they can occur. */
export type RunRecord =
  /** Written before the worktree is created. */
  | { readonly type: "started"; readonly run: RunIdentity }
  /** The worktree has all that it gets: the agent may be let in. */
  | { readonly type: "prepared"; readonly born: Birth }
  /** Another session, or the same one, goes on with it. */
  | { readonly type: "resumed"; readonly owner: Owner }
  | { readonly type: "iteration"; readonly iteration: number; readonly tip: Oid }
  | { readonly type: "stopped"; readonly stop: Stop; readonly tip: Oid }
  /** A state of the landing, written before its effect. */
  | { readonly type: "landing"; readonly state: State }
  /** A state of the landing's undoing, likewise. */
  | { readonly type: "undo"; readonly state: State }
  /** Nothing was left to land; worktree and branch are gone. */
  | { readonly type: "cleaned" }
  /** On the user's word: branch and worktree are gone, their commits are kept under backup refs. */
  | { readonly type: "discarded" };

export type Recorder = (record: RunRecord) => Promise<void>;

export function recorderFor({ commonDir }: Repository, id: string): Recorder {
  const path = journalPath(commonDir, id);
  return (record) => appendRecord(path, record);
}
