import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RepositoryBusyError, withRepositoryLock } from "../../src/journal/lock.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSX = pathToFileURL(join(ROOT, "node_modules/tsx/dist/esm/index.mjs")).href;

let base = "";
let children: ChildProcess[] = [];
const lockFile = () => join(base, "ultrathink", "lock");

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ultratree-lock-"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(base, { recursive: true });
});

/** A process that takes the lock; resolves once it has said its first word. */
async function child(mode: "hold" | "count"): Promise<ChildProcess> {
  const args = ["--import", TSX, join(ROOT, "test/support/lock-child.ts"), base, mode];
  const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  children.push(started);
  await once(started.stdout, "data");
  return started;
}

describe("the repository lock", () => {
  test("lets two processes in one after the other", async () => {
    writeFileSync(join(base, "counter"), "0");
    const both = await Promise.all([child("count"), child("count")]);
    const ended = both.map((each) => once(each, "exit"));
    for (const each of both) each.stdin?.write("go\n");
    await Promise.all(ended);
    expect(readFileSync(join(base, "counter"), "utf8")).toBe("40");
    expect(new Set(readFileSync(join(base, "log"), "utf8").trim().split("\n")).size).toBe(2);
    expect(readdirSync(join(base, "ultrathink"))).toEqual([]);
  });

  test("queues the calls of one process, and a failure does not stop the next", async () => {
    const order: string[] = [];
    const first = withRepositoryLock(base, async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push("first");
      throw new Error("first fails");
    });
    const second = withRepositoryLock(base, async () => order.push("second"));
    await expect(first).rejects.toThrow("first fails");
    await second;
    expect(order).toEqual(["first", "second"]);
  });

  test("of a process that was killed is taken over, by one of many", async () => {
    const holder = await child("hold");
    await expect(withRepositoryLock(base, async () => undefined, { waitMs: 0 })).rejects.toThrow(RepositoryBusyError);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(existsSync(lockFile())).toBe(true);

    writeFileSync(join(base, "counter"), "0");
    const both = await Promise.all([child("count"), child("count")]);
    const ended = both.map((each) => once(each, "exit"));
    for (const each of both) each.stdin?.write("go\n");
    await Promise.all(ended);
    expect(readFileSync(join(base, "counter"), "utf8")).toBe("40");
    expect(readdirSync(join(base, "ultrathink"))).toEqual([]);
  });

  test("names the process that holds it", async () => {
    const holder = await child("hold");
    const attempt = withRepositoryLock(base, async () => undefined, { waitMs: 100 });
    await expect(attempt).rejects.toMatchObject({ owner: { pid: holder.pid, host: hostname() } });
  });

  test("of another machine is never taken over", async () => {
    mkdirSync(join(base, "ultrathink"));
    writeFileSync(lockFile(), JSON.stringify({ host: "elsewhere.invalid", pid: 1, start: "1" }));
    const attempt = withRepositoryLock(base, async () => undefined, { waitMs: 100 });
    await expect(attempt).rejects.toThrow(/elsewhere\.invalid/);
    expect(existsSync(lockFile())).toBe(true);
  });

  test("of a pid that was used again is taken over", async () => {
    mkdirSync(join(base, "ultrathink"));
    writeFileSync(lockFile(), JSON.stringify({ host: hostname(), pid: process.pid, start: "long ago" }));
    expect(await withRepositoryLock(base, async () => "in", { waitMs: 5_000 })).toBe("in");
  });

  test("without content says what to do", async () => {
    mkdirSync(join(base, "ultrathink"));
    writeFileSync(lockFile(), "");
    await expect(withRepositoryLock(base, async () => undefined)).rejects.toThrow(/is damaged; delete it when/);
  });

  test("stops waiting when the call is aborted, and can be deleted by hand", async () => {
    await child("hold");
    const stop = new AbortController();
    const attempt = withRepositoryLock(base, async () => undefined, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(attempt).rejects.toMatchObject({ name: "AbortError" });
    rmSync(lockFile());
    expect(await withRepositoryLock(base, async () => rmSync(lockFile()))).toBeUndefined();
  });
});
