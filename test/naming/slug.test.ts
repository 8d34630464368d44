import { describe, expect, test } from "vitest";
import { NamingError, parseObject, type Question } from "../../src/naming/ask.ts";
import { chooseSlug, slugFromPrompt } from "../../src/naming/slug.ts";

const free = () => false;

/** A naming model that gives these replies, the last one again and again, and remembers what it was asked. */
function replying(...replies: (string | Error)[]) {
  const asked: Question[] = [];
  const complete = async (question: Question) => {
    const reply = replies[Math.min(asked.length, replies.length - 1)] ?? "";
    asked.push(question);
    if (reply instanceof Error) throw reply;
    return reply;
  };
  return { complete, asked };
}

describe("a reply of the naming model", () => {
  test.each([
    ['{"slug":"a-b"}', { slug: "a-b" }],
    ['  {"slug":"a-b","note":"why"}\n', { slug: "a-b", note: "why" }],
    ['```json\n{"slug":"a-b"}\n```', { slug: "a-b" }],
    ['```\n{"slug":"a-b"}\n```\n', { slug: "a-b" }],
    ['Sure! {"slug":"a-b"}', undefined],
    ['["a-b"]', undefined],
    ["null", undefined],
    ["a-b", undefined],
    ["", undefined],
  ])("%j reads as %j", (reply, expected) => {
    expect(parseObject(reply)).toEqual(expected);
  });
});

describe("chooseSlug", () => {
  test("takes the model's word", async () => {
    const { complete, asked } = replying('{"slug":"honour-retry-after","extra":1}');
    expect(await chooseSlug(complete, "Honour Retry-After", free)).toEqual({ slug: "honour-retry-after" });
    expect(asked).toHaveLength(1);
  });

  test.each(["Honour-Retry", "a", "a--b", "-ab", "ab-", "a b c", "ä-b-c", "a/b", `a${"-b".repeat(25)}`, "../x", ""])(
    "asks again, and says why, when the slug is %j",
    async (slug) => {
      const { complete, asked } = replying(JSON.stringify({ slug }), '{"slug":"fine"}');
      expect(await chooseSlug(complete, "task", free)).toEqual({ slug: "fine" });
      expect(asked[1]?.prompt).toContain("could not be used: /slug");
    },
  );

  test("asks three times in all, then makes one of the prompt's own words", async () => {
    const { complete, asked } = replying("I would call it fixes.");
    const { slug, failure } = await chooseSlug(complete, "Fix the *Grünen* knöpfe, please — now", free);
    expect(slug).toBe("fix-the-gru-nen-kno-pfe");
    expect(failure?.message).toContain("no usable reply in 3 attempts");
    expect(asked).toHaveLength(3);
  });

  test("a failing model is not asked again", async () => {
    const { complete, asked } = replying(new NamingError("401 wrong key"));
    const { slug, failure } = await chooseSlug(complete, "Tidy up", (each) => each === "tidy-up");
    expect(slug).toBe("tidy-up-2");
    expect(failure?.message).toBe("401 wrong key");
    expect(asked).toHaveLength(1);
  });

  test("a programming error is no naming error", async () => {
    const { complete } = replying(new TypeError("bug"));
    await expect(chooseSlug(complete, "task", free)).rejects.toThrow(TypeError);
  });

  test("names the taken ones when it asks for another, five times", async () => {
    const { complete, asked } = replying('{"slug":"one"}', '{"slug":"two"}', '{"slug":"three"}');
    const taken = new Set(["one", "two"]);
    expect(await chooseSlug(complete, "task", (slug) => taken.has(slug))).toEqual({ slug: "three" });
    expect(asked[2]?.prompt).toContain("Taken already, choose another: one, two");

    const stubborn = replying('{"slug":"one"}');
    const { slug, failure } = await chooseSlug(stubborn.complete, "Say it", (each) => each === "one");
    expect(slug).toBe("say-it");
    expect(failure?.message).toContain("5 slugs in a row are taken");
    expect(stubborn.asked).toHaveLength(5);
  });

  test("hands on the abort of the run", async () => {
    const { complete, asked } = replying('{"slug":"one"}');
    const run = new AbortController();
    await chooseSlug(complete, "task", free, run.signal);
    expect(asked[0]?.signal?.aborted).toBe(false);
    run.abort();
    expect(asked[0]?.signal?.aborted).toBe(true);
  });
});

test.each([
  ["Make the retry logic honour Retry-After headers", "make-the-retry-logic-honour-retry"],
  ["日本語だけ", "run"],
  ["x", "run-x"],
  ["!!", "run"],
  ["A".repeat(60), "run"],
  ["https://example.com/a?b=c", "https-example-com-a-b-c"],
])("slugFromPrompt(%j) is %j", (prompt, slug) => {
  expect(slugFromPrompt(prompt)).toBe(slug);
});
