import type { Commit } from "../git/log.ts";
import type { WorktreePath } from "../git/names.ts";
import type { Note, Outcome, StopReason } from "../landing/state.ts";
import type { RunIdentity } from "./record.ts";
import type { Stop } from "./stop.ts";

/** What became of a run's work. */
export type Ending =
  | {
      readonly kind: "landed";
      readonly outcome: Outcome;
      readonly notes: readonly Note[];
      readonly message?: string | undefined;
    }
  /** No commit was made; worktree and branch are gone. */
  | { readonly kind: "nothing-to-land"; readonly kept?: { readonly worktree: WorktreePath; readonly why: string } }
  | {
      readonly kind: "preserved";
      /** Why the landing stopped; `undefined` when none was tried. */
      readonly reason?: StopReason | undefined;
      /** Entries of the run's worktree that are in no commit. */
      readonly uncommitted: number;
    };

/** A finished run, all of it: enough to write the summary from. */
export interface RunReport {
  readonly run: RunIdentity;
  readonly stop: Stop;
  readonly ending: Ending;
  readonly iterations: number;
  /** The scratch branch's commits, oldest first. */
  readonly commits: readonly Commit[];
  /** Entries of the user's checkout that differed from HEAD when the run began. */
  readonly stayed: number;
  readonly elapsedMs: number;
  /** Repositories that the agent made inside the worktree; they are in no commit. */
  readonly nested: readonly string[];
}

/** Whether a script may take the run for a success: it landed, or there was nothing to do. */
export function succeeded({ ending, stop }: RunReport): boolean {
  return ending.kind === "landed" || (ending.kind === "nothing-to-land" && stop.kind === "no-git-changes");
}
