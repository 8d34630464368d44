import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TreePath, treePath } from "../../src/git/names.ts";
import { boundedPaths, foreign, lines, name, pathLines } from "../../tools/text.ts";

const path = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => treePath(Buffer.from(bytes)));
/** C0 and C1 controls but newline and tab, and what turns the reading direction. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u;

describe("words of others", () => {
  test("lose what looks like a credential, also across the cut", () => {
    const secret = `ghp_${"a".repeat(36)}`;
    expect(foreign(`fatal: https://me:${"hunter2hunter2"}@example.com token=${secret}`)).toBe(
      "fatal: https://me:[redacted]@example.com token=[redacted]",
    );
    for (let pad = 4040; pad < 4100; pad++) expect(foreign(`${"x ".repeat(pad / 2)}${secret}`)).not.toContain("ghp_a");
  });

  test("are bounded and cannot move a cursor", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 9000 }), (text) => {
        const shown = foreign(text);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4096);
        expect(shown).not.toMatch(UNSAFE);
      }),
    );
    expect(foreign("\u001b[31mred\u001b[0m\u0007 \u202eright")).toBe("red\\u{7} \\u{202e}right");
  });
});

describe("paths", () => {
  test("come back from details byte for byte", () => {
    fc.assert(
      fc.property(fc.array(path, { maxLength: 20 }), (paths) => {
        const bounded = boundedPaths(paths);
        const bytes = bounded.paths.map((each) =>
          treePath(typeof each === "string" ? Buffer.from(each) : Buffer.from(each.base64, "base64")),
        );
        expect(bytes).toEqual(paths);
        expect(bounded.totalPaths).toBe(paths.length);
      }),
    );
  });

  test("are one line each in text, whatever they contain", () => {
    fc.assert(
      fc.property(fc.array(path, { minLength: 1, maxLength: 20 }), (paths) => {
        const text = pathLines(paths);
        expect(text.split("\n")).toHaveLength(paths.length);
        expect(text).not.toMatch(UNSAFE);
      }),
    );
  });

  test("are cut between two, never within one, and counted", () => {
    const long = Array.from({ length: 500 }, (_, i) => `${"d".repeat(900)}/${i}` as TreePath);
    const { paths, totalPaths } = boundedPaths(long);
    expect(totalPaths).toBe(500);
    expect(paths.length).toBeLessThan(40);
    expect(paths).toEqual(long.slice(0, paths.length));
    expect(lines(long).split("\n").slice(0, -1)).toEqual(long.slice(0, 13));
    expect(lines(long)).toMatch(/… and 487 more$/);
    const [huge] = ["x".repeat(100_000)] as [string];
    expect(lines([huge])).toBe(huge);
  });
});

test("a name stands bare only where a reader sees its end", () => {
  expect(name("/a/b-c_d.e+f@1=2,3:4~5/é名")).toBe("/a/b-c_d.e+f@1=2,3:4~5/é名");
  expect(name("/with space")).toBe('"/with space"');
  expect(name("a\nb")).toBe('"a\\nb"');
  expect(name("a\u202eb")).toBe('"a\\u{202e}b"');
});
