import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTreeChanges, type TreeChange, treeChanges } from "../../src/git/diff-tree.ts";
import { gitIn } from "../../src/git/git.ts";
import { type Oid, treePath } from "../../src/git/names.ts";
import { test as withRepo } from "../support/repo.ts";

const oid = fc.constantFrom("1".repeat(40), "0".repeat(40), "a".repeat(64)) as fc.Arbitrary<Oid>;
const mode = fc.constantFrom("100644", "100755", "120000", "160000", "000000");
const change: fc.Arbitrary<TreeChange> = fc.record({
  path: fc.uint8Array({ min: 1, minLength: 1, maxLength: 20 }).map((bytes) => treePath(Buffer.from(bytes))),
  kind: fc.constantFrom("added" as const, "deleted" as const, "modified" as const),
  oldMode: mode,
  newMode: mode,
  oldOid: oid,
  newOid: oid,
});

/** As git-diff-tree(1), "Raw output format", describes it, `-z`. */
function print({ path, kind, oldMode, newMode, oldOid, newOid }: TreeChange): string[] {
  const letter = { added: "A", deleted: "D", modified: "M" }[kind];
  return [`:${oldMode} ${newMode} ${oldOid} ${newOid} ${letter}`, path];
}

describe("tree changes", () => {
  test("are parsed back whatever git can print", () => {
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        expect(parseTreeChanges(changes.flatMap(print))).toEqual(changes);
      }),
    );
  });

  test("of arbitrary records are changes or a SyntaxError", () => {
    const almost = fc.array(change, { minLength: 1 }).map((changes) => changes.flatMap(print).slice(0, -1));
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), almost), (records) => {
        expect(() => parseTreeChanges(records)).toThrow(SyntaxError);
      }),
    );
  });

  withRepo("are a deletion and an addition where git would see a rename", async ({ repo }) => {
    const from = repo.commit({ "a\nb": "text\n", "kind.txt": "x\n" });
    repo.git("config", "diff.renames", "copies");
    repo.git("mv", "a\nb", "c d");
    repo.git("rm", "--quiet", "kind.txt");
    const to = repo.commit({ "kind.txt/now-a-folder": "x\n" });
    const changes = await treeChanges(gitIn(repo.path, { env: repo.env() }), from, to);
    expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "deleted a\nb",
      "added c d",
      "deleted kind.txt",
      "added kind.txt/now-a-folder",
    ]);
  });
});
