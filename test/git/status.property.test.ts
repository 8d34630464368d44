import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gitIn } from "../../src/git/git.ts";
import { type Oid, type TreePath, treePath } from "../../src/git/names.ts";
import { parseStatus, type StatusEntry, status } from "../../src/git/status.ts";
import { test as withRepo } from "../support/repo.ts";

const path = fc.uint8Array({ min: 1, minLength: 1, maxLength: 20 }).map((bytes) => treePath(Buffer.from(bytes)));
const xy = fc.stringMatching(/^[.MTADRCU]{2}$/);
const inHead = fc.record({
  mode: fc.constantFrom("000000", "100644", "100755", "120000", "160000"),
  oid: fc.constantFrom("0".repeat(40), "1".repeat(40), "a".repeat(64)),
});
const entry: fc.Arbitrary<StatusEntry> = fc.oneof(
  fc.record({ kind: fc.constant("changed" as const), xy, path, head: inHead }),
  fc.record({ kind: fc.constant("unmerged" as const), xy, path }),
  fc.record({ kind: fc.constant("renamed" as const), xy, path, from: path }),
  fc.record({ kind: fc.constantFrom("untracked" as const, "ignored" as const), path }),
);
const head = fc.option(fc.constantFrom("1".repeat(40), "a".repeat(64)), { nil: undefined });

const OID = "0".repeat(40);

/** As git-status(1), "Porcelain Format Version 2", describes it, `-z`. */
function print(each: StatusEntry): string {
  switch (each.kind) {
    case "changed":
      return `1 ${each.xy} N... ${each.head.mode} 100644 100644 ${each.head.oid} ${OID} ${each.path}\0`;
    case "renamed":
      return `2 ${each.xy} N... 100644 100644 100644 ${OID} ${OID} R100 ${each.path}\0${each.from}\0`;
    case "unmerged":
      return `u ${each.xy} N... 100644 100644 100644 100644 ${OID} ${OID} ${OID} ${each.path}\0`;
    case "untracked":
      return `? ${each.path}\0`;
    case "ignored":
      return `! ${each.path}\0`;
  }
}

describe("status", () => {
  test("parses back whatever git can print", () => {
    fc.assert(
      fc.property(fc.array(entry), head, fc.constantFrom("main", "名/é", undefined), (entries, oid, branch) => {
        const name = branch === undefined ? "(detached)" : Buffer.from(branch).toString("latin1");
        const headers = `# branch.oid ${oid ?? "(initial)"}\0# branch.head ${name}\0`;
        expect(parseStatus(headers + entries.map(print).join(""))).toEqual({ entries, head: oid as Oid, branch });
      }),
    );
  });

  test("answers arbitrary text with entries or a SyntaxError", () => {
    const almost = fc.tuple(
      fc.constantFrom("1 ", "2 ", "u ", "? ", "! ", "# branch.oid ", "x "),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          almost.map(([type, rest]) => `${type}${rest}\0`),
        ),
        (text) => {
          try {
            parseStatus(text);
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        },
      ),
    );
  });

  withRepo("reads what git prints of odd names", async ({ repo }) => {
    const names = ["with space", "new\nline", "é名", '"quoted"', "-dash", ":(top)magic"];
    repo.write(Object.fromEntries(names.map((name) => [name, "x\n"])));
    repo.git("add", "--", "./with space");
    const entries = await status(gitIn(repo.path, { env: repo.env() }), { untracked: "all" });
    const bytes = (name: string) => treePath(Buffer.from(name));
    const found = new Map(entries.map((each) => [each.path, each.kind]));
    expect(found).toEqual(
      new Map<TreePath, string>(names.map((name) => [bytes(name), name === "with space" ? "changed" : "untracked"])),
    );
  });
});
