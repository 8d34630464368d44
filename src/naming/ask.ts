import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";

export interface Question {
  readonly system: string;
  readonly prompt: string;
  readonly signal?: AbortSignal | undefined;
}

/** One call of the naming model. @throws {NamingError} when the model did not answer. */
export type Complete = (question: Question) => Promise<string>;

/** The naming model failed for good: no answer, or none that could be used. */
export class NamingError extends Error {
  override readonly name = "NamingError";
}

/** A malformed reply is asked for again so many times in all. */
const ATTEMPTS = 3;

/** Limit of one call, in milliseconds. */
const LIMIT_MS = 30_000;

/**
 * Asks for one JSON object that matches `schema`.
 *
 * @throws {NamingError} after {@link ATTEMPTS} replies that do not, or when the model fails.
 */
export async function askFor<S extends TSchema>(complete: Complete, question: Question, schema: S): Promise<Static<S>> {
  let problem = "";
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const again =
      problem === "" ? "" : `\n\nYour last reply could not be used: ${problem}. Reply with the JSON object only.`;
    const limit = AbortSignal.timeout(LIMIT_MS);
    const signal = question.signal ? AbortSignal.any([question.signal, limit]) : limit;
    const reply = await complete({ ...question, prompt: question.prompt + again, signal });
    const parsed = parseObject(reply);
    if (parsed === undefined) problem = "it is not a JSON object";
    else if (Value.Check(schema, parsed)) return parsed;
    else
      problem = Value.Errors(schema, parsed)
        .map(({ instancePath, message }) => `${instancePath} ${message}`)
        .join("; ");
  }
  throw new NamingError(`no usable reply in ${ATTEMPTS} attempts: ${problem}`);
}

/** The reply as an object; a fenced block is accepted, prose around it is not. */
export function parseObject(reply: string): object | undefined {
  const text = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(reply)?.[1] ?? reply;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
