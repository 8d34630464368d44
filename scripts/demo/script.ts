import type { Script } from "../../test/support/script.ts";

export const PROMPT = "Add a parser for the Retry-After header";

const FOLDER = "retry-after-demo";
/** What the run is to bring to the branch. */
export const LANDED = [`${FOLDER}/retry-after.mjs`, `${FOLDER}/retry-after.test.mjs`];

const FIRST = `/** Milliseconds to wait, by a Retry-After header. */
export function retryAfterMs(header) {
  return Number(header) * 1000;
}
`;

const SECOND = `/** Milliseconds to wait from \`now\`, by a Retry-After header: seconds, or a date. */
export function retryAfterMs(header, now = Date.now()) {
  const seconds = Number(header);
  return Number.isNaN(seconds) ? Math.max(0, Date.parse(header) - now) : seconds * 1000;
}
`;

const TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { retryAfterMs } from "./retry-after.mjs";

test("seconds", () => assert.equal(retryAfterMs("2"), 2000));
test("a date", () => assert.equal(retryAfterMs("Thu, 01 Jan 1970 00:00:05 GMT", 0), 5000));
`;

function write(path: string, content: string) {
  return { tool: "write", arguments: { path, content } };
}

function reply(subject: string, body: string): string {
  return JSON.stringify({ subject, body });
}

/** A model that is not quite right at first, finds it in its own review, and is content with the second. */
export const SCRIPT: Script = {
  passes: [
    { steps: [[write(`${FOLDER}/retry-after.mjs`, FIRST)]], text: "The parser is there." },
    {
      steps: [
        [{ tool: "bash", arguments: { command: "git diff HEAD~1 HEAD --stat" } }],
        [write(`${FOLDER}/retry-after.mjs`, SECOND), write(`${FOLDER}/retry-after.test.mjs`, TEST)],
        [{ tool: "bash", arguments: { command: `node --test ${FOLDER}/retry-after.test.mjs` } }],
      ],
      text: "The header may hold a date as well; that works now, and both forms are under test.",
    },
    { text: "Reviewed again: nothing substantial is left." },
  ],
  slugs: [JSON.stringify({ slug: "parse-retry-after" })],
  commits: [
    reply("Parse Retry-After headers", "- seconds to milliseconds"),
    reply("Read dates in Retry-After headers too", "- RFC 9110 allows either form\n- both under test"),
  ],
  merges: [reply("Merge a parser for Retry-After headers", "- seconds and dates\n- with tests")],
};
