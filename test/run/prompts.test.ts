import { expect, test } from "vitest";
import { toOid } from "../../src/git/names.ts";
import { hookMessage, reviewMessage } from "../../src/run/prompts.ts";

const base = toOid("0123456789".repeat(4));

test("a review message quotes the task, the beginning of a long one, and names the diff", () => {
  expect(reviewMessage("Fix it", base, "Look twice.")).toBe(
    "Original task: Fix it\n\nReview the changes with `git diff 012345678901 HEAD`.\nLook twice.",
  );
  expect(reviewMessage("T".repeat(3_000), base, "Look.")).toContain(`Original task: ${"T".repeat(2_000)} […]\n\n`);
});

test("a hook's words reach the agent as they are", () => {
  expect(hookMessage("line 1\nline 2")).toContain("\n\nline 1\nline 2\n\n");
});
