import { type ChildProcess, execFileSync, type StdioOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { PiCommand } from "./hosts.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface PiProcess {
  readonly child: ChildProcess;
  /** Resolves when Pi and its pipes have closed; rejects when it could not be started. */
  readonly closed: Promise<Exit>;
  /** Signals Pi alone, as a user or the system would. */
  kill(signal: NodeJS.Signals): void;
  /** Kills Pi and whatever it started. */
  stop(): Promise<void>;
}

export function spawnPi({ file, args, cwd, env }: PiCommand, home: string, stdin: "ignore" | "pipe"): PiProcess {
  const stdio: StdioOptions = [stdin, "pipe", "pipe"];
  const child = spawn(file, args, { cwd, env, stdio, detached: true });
  const closed = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  closed.catch(() => undefined); // reported to whoever awaits it
  const release = reapAtExit(home);
  return {
    child,
    closed,
    kill: (signal) => void child.kill(signal),
    async stop() {
      if (child.pid && child.exitCode === null && child.signalCode === null) killAll([-child.pid]);
      await reap(home);
      release();
    },
  };
}

const HOMES = new Set<string>();
process.on("exit", () => {
  for (const home of HOMES) killAll(processesOf(home));
});

/** Keeps a promise to leave nothing behind even when the test runner ends before `stop`. */
export function reapAtExit(home: string): () => void {
  HOMES.add(home);
  return () => HOMES.delete(home);
}

/**
 * Kills every process that has `home` as its HOME and waits until it is gone.
 *
 * A process group would miss what Pi's shell tools start: each command leads a group of its own, and a Pi that was
 * killed leaves them to init.
 *
 * @throws {Error} when something survives for 10 s.
 */
export async function reap(home: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; await sleep(20)) {
    const pids = processesOf(home);
    if (pids.length === 0) return;
    if (Date.now() > deadline) throw new Error(`processes ${pids.join(", ")} of ${home} do not end`);
    killAll(pids);
  }
}

/** Processes that have `home` as their HOME. */
export function processesOf(home: string): number[] {
  const marker = `HOME=${home}`;
  if (process.platform === "linux") {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => environmentOf(pid).includes(marker)).map(Number);
  }
  const lines = execFileSync("ps", ["-A", "-E", "-ww", "-o", "pid=,command="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.split(" ").includes(marker)).map((line) => Number.parseInt(line, 10));
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch (error) {
    if (isGoneOrForeign(error)) return [];
    throw error;
  }
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!isGoneOrForeign(error)) throw error;
    }
  }
}

function isGoneOrForeign(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ESRCH" || code === "ENOENT" || code === "EACCES" || code === "EPERM";
}
