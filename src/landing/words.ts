import { type Oid, readablePath, type TreePath } from "../git/names.ts";
import type { Note, StopReason } from "./state.ts";

/** Characters of an object name that people read. */
const SHORT = 7;
/** Paths named before the rest is counted. */
const PATHS_SHOWN = 10;

interface Branches {
  readonly source: string;
  readonly target: string;
}

/** Why a landing stopped and what to do about it, in one or two sentences. */
export function reasonSentence(reason: StopReason, { source, target }: Branches): string {
  switch (reason.kind) {
    case "conflicted": {
      const types = reason.types.filter((type) => type !== "contents");
      const drivers = reason.byDriver.map(
        ({ driver, paths }) => ` Merge driver ${driver} was in charge of ${pathList(paths)}.`,
      );
      return `${target} and ${source} both change ${pathList(reason.paths)} (${plural(reason.paths.length, "conflict")}${types.length === 0 ? "" : `: ${types.join(", ")}`}).${drivers.join("")}`;
    }
    case "check-failed":
      return `the check ${reason.command} failed on the result:\n${reason.output}\n`;
    case "target-moved":
      return `${target} kept moving (now ${short(reason.to)}); try again when it rests.`;
    case "target-rewritten":
      return `${target} was moved to ${short(reason.to)} and no longer contains ${short(reason.was)}, where it was when ${source} began; landing would bring back what was taken out.`;
    case "target-busy":
      return `a ${reason.operation} is in progress in ${reason.worktree}; finish or abort it first.`;
    case "locked":
      return `${reason.file} exists (${Math.round(reason.ageMs / 1000)} s old): ${lockWords(reason.running)}`;
    case "overlap":
      return `uncommitted changes in ${reason.worktree} touch ${pathList(reason.paths)}, which ${source} changes too; commit or move them first.`;
    case "would-overwrite-ignored":
      return `${pathList(reason.paths)} in ${reason.worktree} is ignored by git and would be overwritten; move it first.`;
    case "hidden-edit":
      return `${pathList(reason.paths)} in ${reason.worktree} is marked ${reason.bit}, so an edit there would be lost; clear the bit first.`;
    case "hook-rejected":
      return `the hook ${reason.hook} rejected it:\n${reason.output}\n`;
    case "signing-failed":
      return `the commit could not be signed:\n${reason.output}\n`;
    case "signature-required":
      return `merge.verifySignatures asks for a good signature, which ${short(reason.commit)} does not have.`;
    case "unrelated-histories":
      return reason.shallow
        ? "this clone is shallow and the merge base is not in it; git fetch --unshallow first."
        : `${source} and ${target} have no common history.`;
    case "branch-missing":
      return `branch ${reason.branch} does not exist${reason.renamedTo?.length ? ` any more; where it was: ${reason.renamedTo.join(", ")}` : ""}.`;
    case "branch-symbolic":
      return `branch ${reason.branch} is a symbolic reference to ${reason.to}; name that one.`;
    case "owned-by-run":
      return `branch ${reason.branch} belongs to run ${reason.run}, which lands by itself.`;
    case "held-twice":
      return `${target} is checked out in ${reason.worktrees.join(" and ")}; one of them would be left behind.`;
    case "holder-unreadable":
      return `the worktree ${reason.worktree}, which has ${target} checked out, cannot be used: ${reason.why}.`;
    case "sync-failed":
      return `the files in ${reason.worktree} could not be brought up to date, and everything was put back: ${reason.output}`;
    case "aborted":
      return "the landing was cancelled.";
  }
}

/** What whoever asked for a landing should know beside its end. */
export function noteSentence(note: Note): string {
  switch (note.kind) {
    case "driver-decided":
      return `merge driver ${note.driver} decided ${pathList(note.paths)}`;
    case "hooks-ran":
      return `ran ${note.hooks.join(", ")} from ${note.folder}`;
    case "hook-left":
      return `${note.hooks.join(" or ")} left ${pathList(note.paths)} uncommitted during the build; that is not part of the landing`;
    case "hook-changed-commit":
      return `the commit is not the plain merge: ${note.hooks.join(" or ")} changed it`;
    case "hook-failed":
      return `${note.hook} failed after the landing was complete: ${note.output}`;
    case "hook-dirtied":
      return `${note.hook} changed ${pathList(note.paths)} after the landing was complete`;
    case "hook-moved-target":
      return `${note.hook} moved the branch on to ${short(note.to)} after the landing was complete`;
    case "source-moved":
      return `the source branch has moved to ${short(note.to)} since; that is not part of this landing`;
    case "source-uncommitted":
      return `${plural(note.entries, "uncommitted file")} in ${note.worktree} not part of this landing`;
    case "kept-edits":
      return `${pathList(note.paths)} in ${note.worktree} differ from what landed and were kept as they are`;
    case "removed-lock":
      return `removed ${note.file}, which the interrupted landing had left`;
    case "holder-left":
      return `${note.worktree} was moved on while the landing was interrupted; its files were not touched`;
    case "worktree-kept":
      return `${note.worktree} and its branch are kept: ${note.why}`;
  }
}

/** @param running whether a git process works in that worktree; `undefined` where that cannot be told. */
function lockWords(running: boolean | undefined): string {
  if (running) return "a git process is at work there; wait for it.";
  if (running === false) return "no git is running there, so one has crashed; delete the file.";
  return "another git is at work, or one crashed; delete the file when none is.";
}

export function pathList(paths: readonly TreePath[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map(readablePath);
  const rest = paths.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

export function short(oid: Oid): string {
  return oid.slice(0, SHORT);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
