import { describe, expect, test } from "vitest";
import { NamingError, type Question } from "../../src/naming/ask.ts";
import { excerpt, MATERIAL_LIMIT_BYTES, redact } from "../../src/naming/bounds.ts";
import { type Change, commitMessage, cutSubject, mergeMessage, messageText } from "../../src/naming/message.ts";

const change: Change = { task: "task", iteration: 2, stat: "a.txt | +1 -0", patch: "+a" };

function asking(reply: string) {
  const asked: Question[] = [];
  const complete = async (question: Question) => {
    asked.push(question);
    return reply;
  };
  return { complete, asked };
}

describe("commitMessage", () => {
  test("takes subject and body, the latter optional", async () => {
    const { complete } = asking('{"subject":"Say hello","body":"- to the world\\n\\n"}');
    const message = await commitMessage(complete, change);
    expect(messageText(message)).toBe("Say hello\n\n- to the world\n");

    const { complete: short } = asking('{"subject":" Say\\n hello "}');
    expect(messageText(await commitMessage(short, change))).toBe("Say hello\n");
  });

  test.each(['{"subject":" "}', '{"body":"b"}', '{"subject":1}', `{"subject":"${"x".repeat(1_001)}"}`])(
    "says plainly that there is no message after replies like %.40s",
    async (reply) => {
      const { complete, asked } = asking(reply);
      const { subject, failure } = await commitMessage(complete, change);
      expect(subject).toBe("ultrathink: iteration 2 (no message from the naming model)");
      expect(failure).toBeInstanceOf(NamingError);
      expect(asked).toHaveLength(3);
    },
  );

  test("never sends more than the limit, nor what looks like a secret", async () => {
    const { complete, asked } = asking('{"subject":"s"}');
    const token = `ghp_${"a".repeat(36)}`;
    const long = `password = hunter22\n${token}\n${"ä".repeat(40_000)}`;
    await commitMessage(complete, { ...change, task: long, stat: long, patch: long });

    const [question] = asked;
    const sent = `${question?.system}${question?.prompt}`;
    expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(MATERIAL_LIMIT_BYTES);
    expect(sent).not.toContain("hunter22");
    expect(sent).not.toContain(token);
  });
});

test("what a model says cannot move a reader's cursor", async () => {
  const { complete } = asking(
    JSON.stringify({ subject: "Say \u001b[2Jhello\u0007\tagain", body: "- a\u202Eb\r\n- \u001b]8;;x\u0007c" }),
  );
  const { subject, body } = await commitMessage(complete, change);
  expect({ subject, body }).toEqual({ subject: "Say hello again", body: "- ab\n- c" });
});

test("mergeMessage lists the commits, within the limit", async () => {
  const { complete, asked } = asking('{"subject":"Merge it"}');
  const commit = { subject: "One", body: "- b".repeat(30_000) } as Parameters<typeof mergeMessage>[2][number];
  const { subject } = await mergeMessage(complete, "task".repeat(9_000), [commit, commit], "plain");
  expect(subject).toBe("Merge it");
  const [question] = asked;
  expect(question?.prompt).toContain("* One");
  expect(Buffer.byteLength(`${question?.system}${question?.prompt}`)).toBeLessThanOrEqual(MATERIAL_LIMIT_BYTES);
});

test("cutSubject cuts at a word, to 72 characters of any script", () => {
  expect(cutSubject("short")).toBe("short");
  const words = cutSubject("word ".repeat(40));
  expect(words).toBe(`${"word ".repeat(14).trimEnd()}…`);
  expect([...cutSubject("字".repeat(100))]).toHaveLength(72);
  expect([...cutSubject("👍".repeat(100))]).toHaveLength(72);
  expect(cutSubject("a".repeat(72))).toBe("a".repeat(72));
});

test("excerpt cuts between characters and says so", () => {
  expect(excerpt("abc", 3)).toBe("abc");
  const cut = excerpt("ä".repeat(100), 51);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(51);
  expect(cut).toMatch(/^ä+\n\[cut\]$/);
});

describe("redact", () => {
  test.each([
    `token ghs_${"a1".repeat(18)}`,
    `github_pat_${"a1".repeat(20)}`,
    `glpat-${"a1".repeat(10)}`,
    `sk-ant-api03-${"a1".repeat(20)}`,
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0 and the rest is cut off",
    'password: "c2VjcmV0"',
    "API_KEY=c2VjcmV0c2VjcmV0",
    "DB_PASSWORD=c2VjcmV0",
    '"client_secret": "c2VjcmV0"',
    "https://user:c2VjcmV0@example.com/x",
    "Authorization: Bearer c2VjcmV0c2VjcmV0c2VjcmV0",
  ])("takes the secret out of %.30j", (text) => {
    const redacted = redact(text);
    expect(redacted).toContain("[redacted]");
    expect(redacted).not.toMatch(/c2VjcmV0|a1a1a1a1|AKIA|xoxb|eyJ/);
  });

  test("leaves prose and code alone", () => {
    const text = "The token is read from the environment; see tokenize(password) and https://example.com:443/a@b";
    expect(redact(text)).toBe(text);
  });
});
