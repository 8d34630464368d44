import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pathBytes, pathText, shownPath, toBranchName, treePath } from "../../src/git/names.ts";

const shard = fc.constantFrom(
  "a",
  "B",
  "é",
  "/",
  "//",
  ".",
  "..",
  "-",
  "@",
  "@{",
  "{",
  "~",
  "^",
  ":",
  "?",
  "*",
  "[",
  "\\",
  " ",
  "\t",
  ".lock",
  "HEAD",
  "refs/heads/",
  "\u007f",
  "\ud800",
);
const text = fc.oneof(
  fc.array(shard, { maxLength: 5 }).map((shards) => shards.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
);

function isBranchName(candidate: string): boolean {
  try {
    toBranchName(candidate);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return false;
  }
}

test("takes no branch name that git refuses or reads as another", () => {
  fc.assert(
    fc.property(text, (candidate) => {
      if (!isBranchName(candidate)) return;
      const { status, stdout } = spawnSync("git", ["check-ref-format", "--branch", candidate], { encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 0, stdout: `${candidate}\n` });
    }),
    { numRuns: 300 },
  );
});

test("takes every plain branch name that git takes", () => {
  const plain = fc.stringMatching(/^[a-zA-Z0-9._/+=,@é-]{1,12}$/);
  fc.assert(
    fc.property(plain, (candidate) => {
      if (candidate.startsWith("-") || candidate === "HEAD" || candidate === "@" || candidate.startsWith("refs/"))
        return;
      const { status } = spawnSync("git", ["check-ref-format", `refs/heads/${candidate}`]);
      expect(isBranchName(candidate)).toBe(status === 0);
    }),
    { numRuns: 150 },
  );
});

test("refuses what would be another name", () => {
  const names = [
    "",
    "HEAD",
    "@",
    "-x",
    "refs/heads/x",
    "@{-1}",
    "x@{u}",
    "a..b",
    "a".repeat(241),
    "é".repeat(121),
    "0".repeat(40),
    "\ud800",
  ];
  expect(names.filter(isBranchName)).toEqual([]);
});

test("keeps every path byte for byte, and never shows a replacement character that is not there", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
      const path = treePath(Buffer.from(bytes));
      expect(pathBytes(path)).toEqual(Buffer.from(bytes));
      const shown = shownPath(path);
      expect(Buffer.from(typeof shown === "string" ? shown : Buffer.from(shown.base64, "base64"))).toEqual(
        Buffer.from(bytes),
      );
      expect(pathText(path) === undefined).toBe(typeof shown === "object");
    }),
  );
});
