import type { CreateRefusal } from "../worktree/create.ts";
import type { PrepareProblem } from "../worktree/prepare.ts";

/** Why no worktree was created: what is in the way, that nothing has changed, what to do. */
export function refusalSentence(reason: CreateRefusal | undefined): string {
  const safe = "Nothing was created.";
  switch (reason?.kind) {
    case "branch-exists":
      return `branch ${reason.branch} exists already: say the task in other words. ${safe}`;
    case "branch-clash":
      return `branch ${reason.branch} cannot exist beside ${reason.with}: rename that one. ${safe}`;
    case "path-exists":
      return `${reason.path} is in the way of the run's worktree: move it and start again. ${safe}`;
    case "path-registered":
      return `${reason.path} is registered as a worktree${reason.missing ? ` whose directory is missing: ${reason.locked === undefined ? "" : "git worktree unlock and "}git worktree remove it` : ": use or remove it first"}. ${safe}`;
    case "path-not-writable":
      return `the folder for worktrees, ${reason.path}, cannot be written (${reason.why}): make it writable and start again. ${safe}`;
    case "parent-missing":
      return `${reason.path} is not a folder: move what is there and start again. ${safe}`;
    case "inside-worktree":
      return `${reason.path} is inside the checkout ${reason.worktree}, whose tools would pick it up: set worktrees in ~/.pi/ultrathink.json to a place beside it, or to one that git ignores there. ${safe}`;
    case "filter-failed":
      return `${filterSentence(reason.filter)} All of it was taken back. It said:\n${reason.output}`;
    case "disk-full":
      return `there is no space for the worktree ${reason.path}: it needs ${megabytes(reason.neededBytes)}, ${megabytes(reason.freeBytes)} are free. All of it was taken back. Make room, or set worktrees in ~/.pi/ultrathink.json to a place on another disk, and start again.`;
    case "git-failed":
      return `git could not create the worktree, and all of it was taken back: ${reason.output}`;
    case "changed-by-hook":
      return `a hook changed the new worktree (expected ${reason.expected}, found ${reason.found}); all of it was taken back.`;
    default:
      return `the worktree could not be created (${reason?.kind}). ${safe}`;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function filterSentence(filter: string): string {
  return `git could not check out the files of filter ${filter}, which is required: mend it (git config --get-regexp '^filter\\.${filter}\\.') and start again.`;
}

/**
 * Why a new worktree is of no use.
 *
 * @param kept sentence on what is kept nevertheless.
 */
export function prepareSentence(problem: PrepareProblem, kept: string): string {
  const safe = `Nothing was started; the new worktree was taken back, your checkout is as it was.${kept}`;
  switch (problem.kind) {
    case "copy-failed":
      return `ignored files could not be copied into the new worktree: ${problem.why}. ${safe} Make room or mend it, or take it off .worktreeinclude and include, and start again.`;
    case "git-failed":
      return problem.filter === undefined
        ? `git could not make the new worktree ready: ${problem.output}\n${safe} Mend the cause and start again.`
        : `${filterSentence(problem.filter)} ${safe} It said:\n${problem.output}`;
    case "setup-failed":
      return `the set-up command failed: ${problem.command} (${problem.how}). The end of its output:\n${problem.output || "(none)"}\n${safe} Mend it, or setup in ~/.pi/ultrathink.json, and start again.`;
    case "changed-by-setup":
      return `the set-up command moved the new worktree off its branch: ${problem.command} (found ${problem.found}). ${safe} Correct setup in ~/.pi/ultrathink.json and start again.`;
  }
}
