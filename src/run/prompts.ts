import type { Oid } from "../git/names.ts";

export const REVIEW_INSTRUCTIONS = `Review the changes as a careful colleague would: correctness, edge cases, tests, naming, leftovers.
Fix what you find. If nothing substantial is left, change nothing and say so.`;

/** Lines of a task quoted in a review message; the whole of it is further up in the conversation. */
const TASK_LIMIT = 2_000;

/** The visible message that asks for another pass. */
export function reviewMessage(task: string, base: Oid, instructions: string): string {
  const quoted = task.length > TASK_LIMIT ? `${task.slice(0, TASK_LIMIT)} […]` : task;
  return `Original task: ${quoted}\n\nReview the changes with \`git diff ${base.slice(0, 12)} HEAD\`.\n${instructions}`;
}

/** Conflicted paths named in a message; `git status` names the rest. */
const PATHS_NAMED = 20;

/** The visible message that has the agent bring the original branch into the scratch branch. */
export function conflictMessage(original: string, branch: string, paths: readonly string[]): string {
  const named = paths.slice(0, PATHS_NAMED).map((path) => `- ${path}`);
  const rest = paths.length > named.length ? [`- and ${paths.length - named.length} more`] : [];
  return [
    `${original} and ${branch} conflict, so the work could not land. The conflicted files:`,
    ...named,
    ...rest,
    "",
    `Run \`git merge ${original}\` here, resolve every conflict so that the intent of both sides is kept, and commit the merge.`,
  ].join("\n");
}

/** The visible message that has the agent end what it has begun. */
export function operationMessage(operation: string): string {
  return `A ${operation} is in progress in the worktree, so nothing can be committed. Finish it (resolve, stage, continue or commit) or abort it.`;
}

/** The visible message that hands a failed check to the agent. */
export function checkMessage(command: string, output: string): string {
  return `The check \`${command}\` failed on the result, so it was not landed. The end of its output:\n\n${output}\n\nFix what it complains about.`;
}

/** The visible message that hands a hook's refusal to the agent. */
export function hookMessage(output: string): string {
  return `The repository's commit hook rejected the changes, so they are not committed yet. It said:\n\n${output}\n\nFix what it complains about.`;
}
