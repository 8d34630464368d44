import type { BranchName, Oid, TreePath, WorktreePath } from "../git/names.ts";
import type { Operation } from "../git/operation.ts";
import type { WorktreeDirs } from "../git/rev-parse.ts";
import type { Birth } from "../worktree/changes.ts";

/**
 * How the target gets there: `auto` rebases a single commit and merges more; `integrate` fast-forwards where
 * it can and merges otherwise.
 */
export type Policy = "auto" | "rebase" | "merge" | "squash" | "integrate";

export type Build = "fast-forward" | "rebase" | "merge" | "squash" | "undo";

/** What is asked for. Fixed for the whole landing. */
export interface Request {
  /** Names the landing in reflogs and in the backup refs `refs/ultrathink/<id>/…`. */
  readonly id: string;
  readonly source: BranchName;
  readonly target: BranchName;
  readonly policy: Policy;
  /** Where the target was when the work began: one that no longer contains it would get back what was taken out. */
  readonly targetWas?: Oid | undefined;
  /** For a merge or squash commit; git's own wording when absent. */
  readonly message?: string | undefined;
  /** A linked worktree that is done with when the landing is: removed, and its branch `source` deleted. */
  readonly retire?: WorktreePath | undefined;
  /** Of that worktree: what in it is nobody's work. */
  readonly born?: Birth | undefined;
  /** Must succeed on the candidate's files before the target moves. */
  readonly check?: Check | undefined;
}

export interface Check {
  /** Shell text. */
  readonly command: string;
  readonly timeoutMs: number;
}

/** What was decided, on tips that the advance compares against. */
export interface Plan {
  readonly sourceTip: Oid;
  readonly targetTip: Oid;
  readonly mergeBase: Oid;
  readonly build: Build;
  /** The worktree that has the target checked out. */
  readonly holder?: WorktreePath | undefined;
  /** Where git keeps what is the holder's. */
  readonly holderDirs?: WorktreeDirs | undefined;
  /** The user's `commit.gpgSign`. */
  readonly sign: boolean;
  /** Merge drivers that the user's configuration defines. */
  readonly drivers: readonly string[];
  /** Counts from 1; a target that moved is planned again. */
  readonly attempt: number;
  readonly notes: readonly Note[];
}

/** A commit that would become the target's tip. */
export interface Candidate {
  readonly oid: Oid;
  /** Rebased commits, oldest first, by the commits that they replace. */
  readonly rewritten: readonly { readonly from: Oid; readonly to: Oid }[];
}

interface Common {
  readonly request: Request;
}
interface Planned extends Common {
  readonly plan: Plan;
}
/** What the steps after the build know. */
export interface Built extends Planned {
  readonly candidate: Candidate;
  readonly notes: readonly Note[];
}

/** What whoever asked for the landing should know beside its end. */
export type Note =
  /** A merge driver of the user's, not git, chose the content of these paths. */
  | { readonly kind: "driver-decided"; readonly driver: string; readonly paths: readonly TreePath[] }
  | { readonly kind: "hooks-ran"; readonly hooks: readonly string[]; readonly folder: string }
  /** Left in the worktree of the build, in no commit: dropped. */
  | { readonly kind: "hook-left"; readonly hooks: readonly string[]; readonly paths: readonly TreePath[] }
  /** A hook put into the commit what the merge alone does not give. */
  | { readonly kind: "hook-changed-commit"; readonly hooks: readonly string[] }
  | { readonly kind: "hook-failed"; readonly hook: string; readonly output: string }
  /** Appeared in the holder while the hook ran, after the landing was complete. */
  | { readonly kind: "hook-dirtied"; readonly hook: string; readonly paths: readonly TreePath[] }
  | { readonly kind: "hook-moved-target"; readonly hook: string; readonly to: Oid }
  /** The commit that landed is the one that the landing began with. */
  | { readonly kind: "source-moved"; readonly to: Oid }
  | { readonly kind: "source-uncommitted"; readonly worktree: WorktreePath; readonly entries: number }
  /** Edits made after a crash, kept as they are. */
  | { readonly kind: "kept-edits"; readonly paths: readonly TreePath[]; readonly worktree: WorktreePath }
  | { readonly kind: "removed-lock"; readonly file: string }
  /** The holder was somewhere else when the landing was taken up again; its files were not touched. */
  | { readonly kind: "holder-left"; readonly worktree: WorktreePath }
  | { readonly kind: "worktree-kept"; readonly worktree: WorktreePath; readonly why: string };

/** Each state names the one thing left to do, so a crashed landing resumes from its last state. */
export type State =
  | ({ readonly step: "planning"; readonly attempt: number } & Common)
  | ({ readonly step: "building" } & Planned)
  | ({ readonly step: "checking" } & Built)
  | ({ readonly step: "advancing" } & Built)
  | ({ readonly step: "syncing" } & Built)
  | ({ readonly step: "restoring"; readonly reason: StopReason } & Built)
  | ({ readonly step: "cleaning"; readonly outcome: Outcome; readonly notes: readonly Note[] } & Common)
  | ({ readonly step: "landed"; readonly outcome: Outcome; readonly notes: readonly Note[] } & Common)
  | ({ readonly step: "stopped"; readonly reason: StopReason; readonly plan?: Plan | undefined } & Common);

export type Pending = Exclude<State, { step: "landed" | "stopped" }>;
export type End = Exclude<State, Pending>;

export type Outcome =
  | {
      readonly kind: "already-integrated";
      readonly sourceTip: Oid;
      readonly targetTip: Oid;
      readonly equalTree: boolean;
    }
  | {
      readonly kind: Build;
      readonly sourceTip: Oid;
      readonly from: Oid;
      readonly to: Oid;
      readonly rewritten: Candidate["rewritten"];
      readonly holder?: WorktreePath | undefined;
    };

/** Why nothing landed. The target, its holder and the source branch are as they were at `planning`. */
export type StopReason =
  | {
      readonly kind: "conflicted";
      readonly paths: readonly TreePath[];
      /** As in git's messages: `contents`, `rename/rename`, `modify/delete`, … */
      readonly types: readonly string[];
      /** What merge drivers, or git about them, have said. */
      readonly output: string;
      /** Of these, what a merge driver of the user's was in charge of: git does not tell a crash from a conflict. */
      readonly byDriver: readonly { readonly driver: string; readonly paths: readonly TreePath[] }[];
    }
  | { readonly kind: "check-failed"; readonly command: string; readonly output: string }
  | { readonly kind: "target-moved"; readonly to: Oid }
  | { readonly kind: "target-rewritten"; readonly was: Oid; readonly to: Oid }
  | { readonly kind: "target-busy"; readonly operation: Operation; readonly worktree: WorktreePath }
  | { readonly kind: "locked"; readonly file: string; readonly ageMs: number; readonly running?: boolean | undefined }
  | { readonly kind: "overlap"; readonly paths: readonly TreePath[]; readonly worktree: WorktreePath }
  | { readonly kind: "would-overwrite-ignored"; readonly paths: readonly TreePath[]; readonly worktree: WorktreePath }
  | {
      readonly kind: "hidden-edit";
      readonly paths: readonly TreePath[];
      readonly bit: string;
      readonly worktree: WorktreePath;
    }
  | { readonly kind: "hook-rejected"; readonly hook: string; readonly output: string }
  | { readonly kind: "signing-failed"; readonly output: string }
  | { readonly kind: "signature-required"; readonly commit: Oid }
  | { readonly kind: "unrelated-histories"; readonly shallow: boolean }
  | {
      readonly kind: "branch-missing";
      readonly branch: BranchName;
      readonly renamedTo?: readonly BranchName[] | undefined;
    }
  | { readonly kind: "branch-symbolic"; readonly branch: BranchName; readonly to: string }
  /** A branch of another run, whose landing is that run's alone. */
  | { readonly kind: "owned-by-run"; readonly run: string; readonly branch: BranchName }
  | { readonly kind: "held-twice"; readonly worktrees: readonly WorktreePath[] }
  | { readonly kind: "holder-unreadable"; readonly worktree: WorktreePath; readonly why: string }
  | { readonly kind: "sync-failed"; readonly worktree: WorktreePath; readonly output: string }
  | { readonly kind: "aborted" };

export type Event =
  | { readonly type: "planned"; readonly plan: Plan }
  | { readonly type: "already-integrated"; readonly outcome: Outcome }
  | { readonly type: "built"; readonly candidate: Candidate; readonly notes: readonly Note[] }
  | { readonly type: "passed" }
  | { readonly type: "advanced" }
  | { readonly type: "target-moved"; readonly to: Oid }
  | { readonly type: "synced"; readonly notes: readonly Note[] }
  | { readonly type: "restored" }
  | { readonly type: "cleaned"; readonly notes: readonly Note[] }
  | { readonly type: "refused"; readonly reason: StopReason };

export function isPending(state: State): state is Pending {
  return state.step !== "landed" && state.step !== "stopped";
}
