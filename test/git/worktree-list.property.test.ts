import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseWorktrees, shownWorktreePath } from "../../src/git/worktree-list.ts";

/** Bytes of a name, held as latin1; any but NUL. */
const bytes = fc
  .uint8Array({ min: 1, minLength: 1, maxLength: 12 })
  .map((each) => Buffer.from(each).toString("latin1"));
const oid = fc.constantFrom("1".repeat(40), "0".repeat(40), "a".repeat(64));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const record = fc.record({
  path: bytes.map((name) => `/${name}`),
  bare: fc.boolean(),
  head: optional(oid),
  branch: optional(bytes.map((name) => `refs/heads/${name}`)),
  locked: optional(fc.oneof(fc.constant(""), bytes)),
  prunable: optional(bytes),
});
type Record = typeof record extends fc.Arbitrary<infer T> ? T : never;

/** As git-worktree(1), "Porcelain Format", describes it, `-z`. */
function print({ path, bare, head, branch, locked, prunable }: Record): string {
  const attribute = (name: string, value: string | undefined) =>
    value === undefined ? [] : [value === "" ? name : `${name} ${value}`];
  const lines = [
    `worktree ${path}`,
    ...(bare
      ? ["bare"]
      : [...attribute("HEAD", head), ...(branch === undefined ? ["detached"] : [`branch ${branch}`])]),
    ...attribute("locked", locked),
    ...attribute("prunable", prunable),
  ];
  return `${lines.join("\0")}\0\0`;
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const utf8 = Buffer.from(text, "latin1").toString("utf8");
  return Buffer.from(utf8).toString("latin1") === text
    ? utf8
    : `base64:${Buffer.from(text, "latin1").toString("base64")}`;
}

describe("worktree list", () => {
  test("parses back whatever git can print", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
        const parsed = parseWorktrees(records.map(print).join(""));
        expect(
          parsed.map(({ path, bare, head, branch, locked, prunable, main }) => ({
            path,
            bare,
            head,
            branch,
            locked,
            prunable,
            main,
          })),
        ).toEqual(
          records.map(({ path, bare, head, branch, locked, prunable }, index) => ({
            path: decoded(path),
            bare,
            head: bare || head?.startsWith("0") ? undefined : head,
            branch: bare ? undefined : decoded(branch),
            locked: decoded(locked),
            prunable: decoded(prunable),
            main: index === 0,
          })),
        );
      }),
    );
  });

  test("shows every path exactly, and takes none for that of another", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 2, maxLength: 5 }), (records) => {
        const parsed = parseWorktrees(records.map(print).join(""));
        for (const [index, worktree] of parsed.entries()) {
          const shown = shownWorktreePath(worktree);
          const buffer = typeof shown === "string" ? Buffer.from(shown) : Buffer.from(shown.base64, "base64");
          expect(buffer.toString("latin1")).toBe(records[index]?.path);
        }
        expect(new Set(parsed.map(({ path }) => path)).size).toBe(new Set(records.map(({ path }) => path)).size);
      }),
    );
  });

  test("answers arbitrary text with worktrees or a SyntaxError", () => {
    const almost = fc
      .tuple(fc.constantFrom("worktree /x", "HEAD x", "bare"), fc.string({ unit: "binary" }))
      .map(([field, rest]) => `${field}\0${rest}\0\0`);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), almost), (text) => {
        try {
          parseWorktrees(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});
