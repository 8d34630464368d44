import type { Commit } from "../git/log.ts";
import type { TreePath, WorktreePath } from "../git/names.ts";
import type { SharedChange } from "../isolation/changes.ts";
import type { SandboxInForce } from "../isolation/detect-sandbox.ts";
import type { Note, Outcome, StopReason } from "../landing/state.ts";
import type { LeftOut } from "./iteration.ts";
import type { RunIdentity } from "./record.ts";
import type { Stop } from "./stop.ts";

/** What became of a run's work. */
export type Ending =
  | {
      readonly kind: "landed";
      readonly outcome: Outcome;
      readonly notes: readonly Note[];
      /** Ignored files that went with the worktree. */
      readonly ignored: readonly TreePath[];
      readonly message?: string | undefined;
    }
  /** No commit was made; worktree and branch are gone. */
  | {
      readonly kind: "nothing-to-land";
      readonly ignored: readonly TreePath[];
      readonly kept?: { readonly worktree: WorktreePath; readonly why: string };
    }
  | {
      readonly kind: "preserved";
      /** The user wanted no landing. */
      readonly asAsked: boolean;
      /** Why the landing stopped; `undefined` when none was tried. */
      readonly reason?: StopReason | undefined;
      /** Entries of the run's worktree that are in no commit. */
      readonly uncommitted: number;
      /** Its directory was deleted during the run; the registration is gone with it. */
      readonly worktreeGone: boolean;
    }
  /** Git failed where nothing expects it to. Branch and worktree may be there or not. */
  | { readonly kind: "unfinished"; readonly message: string };

/** A finished run, all of it: enough to write the summary from. */
export interface RunReport {
  readonly run: RunIdentity;
  /** Top of the checkout that the user was in. */
  readonly checkout: WorktreePath;
  readonly stop: Stop;
  readonly ending: Ending;
  readonly iterations: number;
  /** The scratch branch's commits, oldest first. */
  readonly commits: readonly Commit[];
  /** Entries of the user's checkout that differed from HEAD when the run began. */
  readonly stayed: number;
  readonly elapsedMs: number;
  /** Files of the worktree that are in no commit for a reason of their own. */
  readonly leftOut: readonly LeftOut[];
  /** What changed in the user's checkout and in the shared repository meanwhile, by the user or by a command. */
  readonly observed: readonly SharedChange[];
  /** What confined the agent's commands. */
  readonly sandbox: SandboxInForce;
}

/** Whether a script may take the run for a success: it landed, was not meant to, or there was nothing to do. */
export function succeeded({ ending, stop }: RunReport): boolean {
  switch (ending.kind) {
    case "landed":
      return true;
    case "nothing-to-land":
      return stop.kind === "no-git-changes";
    case "preserved":
      return ending.asAsked;
    case "unfinished":
      return false;
  }
}
