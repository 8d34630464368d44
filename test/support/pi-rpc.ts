import { setTimeout as sleep } from "node:timers/promises";
import { type PiOptions, piCommand, told } from "./hosts.ts";
import type { PiEvent } from "./pi-print.ts";
import { type Exit, spawnPi } from "./pi-process.ts";

export interface DialogRequest extends PiEvent {
  readonly type: "extension_ui_request";
  readonly id: string;
  readonly method: "select" | "confirm" | "input" | "editor";
  readonly title: string;
  /** Of a `select`. */
  readonly options?: readonly string[];
  /** Of an `editor`. */
  readonly prefill?: string;
}

export type DialogAnswer = { value: string } | { confirmed: boolean } | { cancelled: true };

export interface RpcOptions extends PiOptions {
  /** Answers dialogs as they come; one it leaves `undefined` stays open for {@link PiRpc.answer}. */
  readonly dialogs?: (request: DialogRequest) => DialogAnswer | undefined;
}

export interface PiRpc {
  readonly pid: number | undefined;
  /** Everything Pi wrote to stdout, oldest first. */
  readonly records: readonly PiEvent[];
  /** Resolves to the response. @throws {Error} when it reports a failure or does not come in 45 s. */
  send(command: { type: string; [field: string]: unknown }): Promise<PiEvent>;
  /**
   * The first record after the previous match that satisfies `matches`. Records before it count as seen.
   *
   * @throws {Error} with everything Pi wrote, when there is none in `timeoutMs` (default 45 s) or Pi has ended.
   */
  waitFor(matches: (record: PiEvent) => boolean, timeoutMs?: number): Promise<PiEvent>;
  answer(id: string, answer: DialogAnswer): void;
  kill(signal: NodeJS.Signals): void;
  /** Closes stdin, which asks Pi to shut down, and waits for its end. */
  quit(timeoutMs?: number): Promise<Exit>;
  /** Kills Pi and whatever it started. */
  stop(): Promise<void>;
}

const TIMEOUT_MS = 45_000;
const DIALOGS = new Set<unknown>(["select", "confirm", "input", "editor"]);

export function startRpc(options: RpcOptions): PiRpc {
  const { home, dialogs } = options;
  const pi = spawnPi(piCommand(options, ["--mode", "rpc"]), home, "pipe");
  const records: PiEvent[] = [];
  const stderr: Buffer[] = [];
  let seen = 0;
  let sent = 0;
  let ended = false;
  const wakeUps = new Set<() => void>();
  const wake = () => {
    const waiting = [...wakeUps];
    wakeUps.clear();
    for (const wakeUp of waiting) wakeUp();
  };
  const write = (record: object) => pi.child.stdin?.write(`${JSON.stringify(record)}\n`);
  const answer = (id: string, reply: DialogAnswer) => write({ type: "extension_ui_response", id, ...reply });

  // A dying Pi may close its stdin first; the end of the process is what gets reported.
  pi.child.stdin?.on("error", wake);
  pi.child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  pi.child.stdout?.on(
    "data",
    byLine((line) => {
      const record = parsed(line);
      records.push(record);
      if (isDialog(record)) {
        const reply = dialogs?.(record);
        if (reply) answer(record.id, reply);
      }
      wake();
    }),
  );
  const onEnd = () => {
    ended = true;
    wake();
  };
  pi.closed.then(onEnd, onEnd);

  const report = (problem: string) => {
    return new Error([problem, ...records.map(brief), told(home), Buffer.concat(stderr).toString()].join("\n"));
  };
  const find = async (from: () => number, matches: (record: PiEvent) => boolean, timeoutMs: number, what: string) => {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const index = records.findIndex((record, at) => at >= from() && matches(record));
      const record = records[index];
      if (record) return { index, record };
      if (ended) throw report(`pi ended before ${what}`);
      if (Date.now() >= deadline) throw report(`no ${what} in ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        wakeUps.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  };
  return {
    pid: pi.child.pid,
    records,
    async send(command) {
      const id = `command-${++sent}`;
      write({ id, ...command });
      const isResponse = (record: PiEvent) => record.type === "response" && record["id"] === id;
      const { record } = await find(() => 0, isResponse, TIMEOUT_MS, `response to ${command.type}`);
      if (record["success"] !== true) throw report(`${command.type} failed: ${String(record["error"])}`);
      return record;
    },
    async waitFor(matches, timeoutMs = TIMEOUT_MS) {
      const { index, record } = await find(() => seen, matches, timeoutMs, `record with ${matches}`);
      seen = index + 1;
      return record;
    },
    answer,
    kill: pi.kill,
    async quit(timeoutMs = TIMEOUT_MS) {
      pi.child.stdin?.end();
      const exit = await Promise.race([pi.closed, sleep(timeoutMs, undefined, { ref: false })]);
      if (!exit) throw report(`pi did not end in ${timeoutMs} ms`);
      return exit;
    },
    stop: pi.stop,
  };
}

export function isDialog(record: PiEvent): record is DialogRequest {
  return record.type === "extension_ui_request" && DIALOGS.has(record["method"]);
}

/** Splits on LF only: JSON may contain U+2028, at which `node:readline` splits too. */
function byLine(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      onLine(rest.toString("utf8", 0, end));
      rest = rest.subarray(end + 1);
    }
  };
}

/** Text that does not belong on stdout becomes a record too, so that a wait reports it and a test can look for it. */
function parsed(line: string): PiEvent {
  try {
    return JSON.parse(line) as PiEvent;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { type: "not-json", text: line };
  }
}

function brief(record: PiEvent): string {
  return JSON.stringify(record).slice(0, 400);
}
