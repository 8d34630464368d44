import { Type } from "typebox";
import type { Commit } from "../git/log.ts";
import { askFor, type Complete, NamingError } from "./ask.ts";
import { excerpt, MATERIAL_LIMIT_BYTES, redact } from "./bounds.ts";
import { printable } from "./printable.ts";

const Message = Type.Object({
  subject: Type.String({ pattern: "\\S", maxLength: 1_000 }),
  body: Type.Optional(Type.String({ maxLength: 8_000 })),
});

/** Where hosts and `git log --oneline` cut a subject. */
const SUBJECT_LIMIT = 72;

export interface CommitMessage {
  readonly subject: string;
  readonly body: string;
  /** Why the naming model's words are not used. */
  readonly failure?: NamingError;
}

/** What an iteration changed, as far as the naming model is told. */
export interface Change {
  readonly task: string;
  readonly iteration: number;
  /** `git diff --stat`-like lines. */
  readonly stat: string;
  readonly patch: string;
}

const SYSTEM_COMMIT = `Task: commit message
You write the message of one git commit. Reply with one JSON object and nothing else: {"subject": "...", "body": "..."}.
The subject says what the commit does, in the imperative, at most ${SUBJECT_LIMIT} characters. The body says why, as short
lines starting with "- "; leave it empty when the subject says it all. Describe the change shown, not the task as a whole.`;

const SYSTEM_MERGE = `Task: merge message
You write the message of a merge commit. Reply with one JSON object and nothing else: {"subject": "...", "body": "..."}.
The subject sums the work up in the imperative, at most ${SUBJECT_LIMIT} characters. The body lists what it brings, as short
lines starting with "- ".`;

/** A message for an iteration commit; a plain one that says so when the naming model fails. */
export async function commitMessage(complete: Complete, change: Change, signal?: AbortSignal): Promise<CommitMessage> {
  const head = `The task:\n${excerpt(redact(change.task), 2_048)}\n\nChanged files:\n${excerpt(redact(change.stat), 4_096)}`;
  const prompt = `${head}\n\nExcerpt of the change:\n${excerpt(redact(change.patch), MATERIAL_LIMIT_BYTES - 8_192)}`;
  const plain = `ultrathink: iteration ${change.iteration} (no message from the naming model)`;
  return ask(complete, { system: SYSTEM_COMMIT, prompt, signal }, plain);
}

/** A message for the merge of a run's commits. */
export async function mergeMessage(
  complete: Complete,
  task: string,
  commits: readonly Commit[],
  plain: string,
  signal?: AbortSignal,
): Promise<CommitMessage> {
  const list = commits.map(({ subject, body }) => `* ${subject}\n${body}`).join("\n");
  const material = excerpt(redact(list), MATERIAL_LIMIT_BYTES - 4_096);
  const prompt = `The task:\n${excerpt(redact(task), 2_048)}\n\nThe commits, oldest first:\n${material}`;
  return ask(complete, { system: SYSTEM_MERGE, prompt, signal }, plain);
}

async function ask(
  complete: Complete,
  question: { system: string; prompt: string; signal: AbortSignal | undefined },
  plain: string,
): Promise<CommitMessage> {
  try {
    const { subject, body = "" } = await askFor(complete, question, Message);
    return { subject: cutSubject(subject), body: printable(body).trim() };
  } catch (error) {
    if (!(error instanceof NamingError)) throw error;
    return { subject: plain, body: "", failure: error };
  }
}

/** One line, cut at a word. */
export function cutSubject(subject: string): string {
  const line = printable(subject.replace(/\s+/g, " ")).trim();
  if ([...line].length <= SUBJECT_LIMIT) return line;
  const cut = [...line].slice(0, SUBJECT_LIMIT - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > SUBJECT_LIMIT / 2 ? cut.slice(0, space) : cut}…`;
}

/** The message as git takes it. */
export function messageText({ subject, body }: CommitMessage): string {
  return body === "" ? `${subject}\n` : `${subject}\n\n${body}\n`;
}
