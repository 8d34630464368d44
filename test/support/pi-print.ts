import { setTimeout as sleep } from "node:timers/promises";
import { type PiOptions, piCommand, told } from "./hosts.ts";
import { type Exit, type PiProcess, spawnPi } from "./pi-process.ts";

export interface PrintOptions extends PiOptions {
  /** Sent one after the other. */
  readonly prompt: string | readonly string[];
  readonly mode?: "text" | "json";
  /** Default 45 s. */
  readonly timeoutMs?: number;
}

export interface PrintResult extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

export interface PiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface PiPrint extends Pick<PiProcess, "kill" | "stop"> {
  readonly pid: number | undefined;
  /** @throws {Error} with all output and what the models were told, when Pi does not end in time. */
  result(): Promise<PrintResult>;
}

/** Starts `pi -p` or `pi --mode json` without waiting for its end; the caller must `stop()` it. */
export function startPrint(options: PrintOptions): PiPrint {
  const { prompt, mode = "text", timeoutMs = 45_000, home } = options;
  const command = piCommand(options, [...(mode === "json" ? ["--mode", "json"] : ["-p"]), ...[prompt].flat()]);
  const pi = spawnPi(command, home, "ignore");
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  pi.child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  pi.child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const output = () => ({ stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
  return {
    pid: pi.child.pid,
    kill: pi.kill,
    stop: pi.stop,
    async result() {
      const timer = new AbortController();
      const late = sleep(timeoutMs, undefined, { signal: timer.signal });
      late.catch(() => undefined);
      const exit = await Promise.race([pi.closed, late]);
      timer.abort();
      if (exit) return { ...exit, ...output() };
      const { stdout: out, stderr: err } = output();
      throw new Error([`pi did not end in ${timeoutMs} ms`, told(home), out, err].join("\n"));
    },
  };
}

/** Runs `pi -p` to its end. */
export async function piPrint(options: PrintOptions): Promise<PrintResult> {
  const pi = startPrint(options);
  try {
    return await pi.result();
  } finally {
    await pi.stop();
  }
}

/** Runs `pi --mode json` to its end. */
export async function piJson(options: PrintOptions): Promise<PrintResult & { readonly events: readonly PiEvent[] }> {
  const result = await piPrint({ ...options, mode: "json" });
  const lines = result.stdout.split("\n").filter((line) => line !== "");
  return { ...result, events: lines.map((line) => JSON.parse(line) as PiEvent) };
}
