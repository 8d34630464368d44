import { describe, expect, test } from "vitest";
import { FLAGS, parseArguments, usage } from "../../src/commands/arguments.ts";

describe("parseArguments", () => {
  test.each([
    ["Fix it", { yes: false }, "Fix it"],
    ["  Fix\n  it  ", { yes: false }, "Fix\n  it"],
    ["--max 2 Fix it", { yes: false, max: 2 }, "Fix it"],
    ["--max=2 Fix it", { yes: false, max: 2 }, "Fix it"],
    ["--yes --land none --base main~2 Fix it", { yes: true, land: "none", base: "main~2" }, "Fix it"],
    ["--check 'npm test' Fix", { yes: false, check: "npm test" }, "Fix"],
    ['--check="make a b" Fix', { yes: false, check: "make a b" }, "Fix"],
    ["--check make Fix", { yes: false, check: "make" }, "Fix"],
    ["--yes\nFix it", { yes: true }, "Fix it"],
    ["-- --max is a flag", { yes: false }, "--max is a flag"],
    ["--yes -- -x", { yes: true }, "-x"],
    ["Explain --max", { yes: false }, "Explain --max"],
    ["", { yes: false }, ""],
    ["--yes", { yes: true }, ""],
    ["--", { yes: false }, ""],
  ])("reads %j", (text, flags, prompt) => {
    expect(parseArguments(text)).toEqual({ kind: "run", flags, prompt });
  });

  test.each(["--help", "--yes --help", "--help --nonsense"])("%j asks for help", (text) => {
    expect(parseArguments(text)).toEqual({ kind: "help" });
  });

  test.each([
    ["--maximum 3 x", "unknown flag --maximum."],
    ["--yes=1 x", "--yes takes no value."],
    ["--max x", '--max takes a whole number from 1 to 100, not "x".'],
    ["--max 0 x", '--max takes a whole number from 1 to 100, not "0".'],
    ["--max 1.5 x", '--max takes a whole number from 1 to 100, not "1.5".'],
    ["--max= x", '--max takes a whole number from 1 to 100, not "".'],
    ["--max", '--max takes a whole number from 1 to 100, not "".'],
    ["--land sideways x", '--land takes auto, rebase, merge, squash, none, not "sideways".'],
    ["--base", "--base takes a commit."],
    ["--check", "--check takes a command."],
    ["--check ' ' x", "--check takes a command."],
  ])("refuses %j with a sentence", (text, problem) => {
    expect(parseArguments(text)).toEqual({ kind: "invalid", problem });
  });
});

test("usage shows every flag", () => {
  for (const { name } of FLAGS) expect(usage()).toContain(`--${name}`);
});
