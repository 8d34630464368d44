import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { appendRecord, journalIds, journalPath, NewerJournalError, readRecords } from "../../src/journal/journal.ts";

let base = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ultratree-journal-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const records = async (path: string) => (await readRecords(path)).map(({ record }) => record);

describe("a journal", () => {
  test("gives back what was appended, in order, with times", async () => {
    const path = journalPath(base, "run1");
    const before = Date.now();
    for (const record of [{ type: "started" }, { type: "iteration", n: 1 }, "text\nwith a line break"]) {
      await appendRecord(path, record);
    }
    expect(await records(path)).toEqual([{ type: "started" }, { type: "iteration", n: 1 }, "text\nwith a line break"]);
    for (const { at } of await readRecords(path)) expect(at).toBeGreaterThanOrEqual(before);
    expect(await journalIds(base)).toEqual(["run1"]);
  });

  test("loses, wherever a crash tears it, no more than the record that was being written", async () => {
    const path = journalPath(base, "run1");
    await appendRecord(path, { n: 1, text: "é" });
    await appendRecord(path, { n: 2 });
    const complete = readFileSync(path).length;
    await appendRecord(path, { n: 3, text: "é" });
    const whole = readFileSync(path);
    for (let size = complete; size < whole.length - 1; size++) {
      writeFileSync(path, whole);
      truncateSync(path, size);
      expect(await records(path)).toEqual([{ n: 1, text: "é" }, { n: 2 }]);
      await appendRecord(path, { n: 4 });
      expect(await records(path)).toEqual([{ n: 1, text: "é" }, { n: 2 }, { n: 4 }]);
    }
    truncateSync(path, 0);
    appendFileSync(path, whole.subarray(0, -1)); // only the newline is missing: the record is whole
    await appendRecord(path, { n: 4 });
    expect(await records(path)).toHaveLength(4);
  });

  test("passes over bytes that a power failure left, and reads on", async () => {
    const path = journalPath(base, "run1");
    await appendRecord(path, { n: 1 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (garbage) => {
        writeFileSync(path, `${readFileSync(path, "utf8").split("\n")[0]}\n${garbage.replaceAll("\n", "")}`);
        await appendRecord(path, { n: 2 });
        expect(await records(path)).toEqual([{ n: 1 }, { n: 2 }]);
      }),
      { numRuns: 50 },
    );
  });

  test("of a newer version is not read, whatever its records look like", async () => {
    const path = journalPath(base, "run1");
    await appendRecord(path, { n: 1 });
    appendFileSync(path, '{"version":2,"when":"later"}\n');
    await expect(readRecords(path)).rejects.toThrow(NewerJournalError);
  });

  test("is not there before its first record", async () => {
    expect(await journalIds(base)).toEqual([]);
  });
});
