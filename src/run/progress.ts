import type { FileStat } from "../git/diff-text.ts";
import type { BranchName, Oid } from "../git/names.ts";
import type { SandboxInForce } from "../isolation/detect-sandbox.ts";
import type { State } from "../landing/state.ts";
import type { Equipment } from "../worktree/prepare.ts";
import type { Ground } from "./preflight.ts";
import type { RunIdentity } from "./record.ts";

/** What a run tells while it goes on, for status lines and transcripts. */
export type Progress =
  | { readonly type: "preparing"; readonly what: "name" | "worktree" }
  /** Ignored files into the new worktree, so far. */
  | { readonly type: "copying"; readonly files: number; readonly bytes: number }
  | { readonly type: "setup-output"; readonly text: string }
  | { readonly type: "equipped"; readonly equipment: Equipment }
  | {
      readonly type: "started";
      readonly run: RunIdentity;
      readonly ground: Ground;
      readonly max: number;
      readonly sandbox: SandboxInForce;
    }
  | {
      readonly type: "iteration-started";
      readonly iteration: number;
      readonly max: number;
      readonly branch: BranchName;
    }
  | { readonly type: "naming"; readonly iteration: number }
  | {
      readonly type: "iteration-committed";
      readonly iteration: number;
      readonly tip: Oid;
      readonly subject: string;
      readonly stats: readonly Pick<FileStat, "lines">[];
    }
  /** Another landing in this repository goes first. */
  | { readonly type: "waiting" }
  | { readonly type: "check-output"; readonly text: string }
  | { readonly type: "iteration-unchanged"; readonly iteration: number }
  /** By a commit hook; the agent is told what it said. */
  | { readonly type: "iteration-rejected"; readonly iteration: number }
  | { readonly type: "landing"; readonly step: State["step"] };
