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

/** The visible message that hands a failed check to the agent. */
export function checkMessage(command: string, output: string): string {
  return `The check \`${command}\` failed on the result, so it was not landed. The end of its output:\n\n${output}\n\nFix what it complains about.`;
}

/** The visible message that hands a hook's refusal to the agent. */
export function hookMessage(output: string): string {
  return `The repository's commit hook rejected the changes, so they are not committed yet. It said:\n\n${output}\n\nFix what it complains about.`;
}
