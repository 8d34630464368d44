import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { expect, test } from "vitest";
import { hangingLines } from "../../src/ui/hanging.ts";

const lines = (line: string, columns: number) => hangingLines(line, columns, wrapTextWithAnsi);

test("what does not fit goes on below its own beginning", () => {
  expect(lines("    one two three", 12)).toEqual(["    one two", "    three"]);
  expect(lines("one two", 12)).toEqual(["one two"]);
  expect(lines("", 12)).toEqual([""]);
});

test("no line is wider than it may be, however deep it starts", () => {
  for (const line of [`${" ".repeat(30)}deep`, "x".repeat(50), `  ${"字".repeat(20)}`]) {
    for (const part of lines(line, 10)) expect([...part].length).toBeLessThanOrEqual(10);
  }
});
