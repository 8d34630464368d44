import type { StopReason } from "../src/landing/state.ts";
import { reasonSentence } from "../src/landing/words.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { name } from "./text.ts";

type Refusal = Exclude<StopReason, { kind: "conflicted" }>;

/** A landing that stopped, as a tool's result: the machine has put everything back. */
export function stopReasonBlocked(reason: Refusal, branches: { source: string; target: string }): Blocked {
  const unchanged = "Nothing was changed.";
  switch (reason.kind) {
    case "hook-rejected":
      return blocked(reason.kind, `Hook ${reason.hook} rejected it. ${unchanged}`, nextStep(reason), reason);
    case "check-failed":
      return blocked(reason.kind, `The check ${name(reason.command)} failed. ${unchanged}`, nextStep(reason), reason);
    case "signing-failed":
      return blocked(reason.kind, `The commit could not be signed. ${unchanged}`, nextStep(reason), reason);
    case "sync-failed": {
      const message = `The files in ${name(reason.worktree)} could not be brought up to date; everything was put back.`;
      return blocked(reason.kind, message, nextStep(reason), reason);
    }
    case "overlap":
    case "would-overwrite-ignored":
    case "hidden-edit":
      return blocked(
        reason.kind,
        `In the way in ${name(reason.worktree)}, ${inTheWay(reason)}:`,
        nextStep(reason),
        reason,
      );
    default:
      return blocked(reason.kind, `${reasonSentence(reason, branches)} ${unchanged}`, nextStep(reason));
  }
}

function inTheWay(reason: Extract<Refusal, { kind: "overlap" | "would-overwrite-ignored" | "hidden-edit" }>): string {
  switch (reason.kind) {
    case "overlap":
      return "uncommitted changes";
    case "would-overwrite-ignored":
      return "files that git ignores and would overwrite";
    case "hidden-edit":
      return `files marked ${reason.bit}, whose edits git does not show`;
  }
}

function nextStep(reason: Refusal): string {
  switch (reason.kind) {
    case "check-failed":
    case "hook-rejected":
      return "Mend what it complains about on the source branch, then call again.";
    case "target-moved":
      return "Call again when the target rests.";
    case "target-rewritten":
      return "Look at what happened to the target, then decide by hand what of the source belongs there.";
    case "target-busy":
      return "Finish or abort that operation there, then call again.";
    case "locked":
      return "Wait and call again. If no git process is running, a person deletes that file.";
    case "overlap":
      return "Commit them or move them, then call again.";
    case "would-overwrite-ignored":
      return "Move them, then call again.";
    case "hidden-edit":
      return "Clear the bit with `git update-index` and look at the edits, then call again.";
    case "signing-failed":
      return "A person mends the signing set-up, then call again.";
    case "signature-required":
      return "Sign the commit, or a person changes merge.verifySignatures, then call again.";
    case "unrelated-histories":
      return reason.shallow ? "Run `git fetch --unshallow`, then call again." : "Check the branch names.";
    case "branch-missing":
    case "branch-symbolic":
      return "Name a local branch that exists; `git branch` lists them.";
    case "owned-by-run":
      return "Leave it: a run lands by itself when it ends.";
    case "held-twice":
      return "Switch one of the worktrees to another branch, then call again.";
    case "holder-unreadable":
      return "Mend, unlock or remove that worktree, then call again.";
    case "sync-failed":
      return "Mend the cause, then call again.";
    case "aborted":
      return "Call again if it is still wanted.";
  }
}
