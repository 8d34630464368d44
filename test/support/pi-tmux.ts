import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type PiOptions, piCommand } from "./hosts.ts";
import { reap, reapAtExit } from "./pi-process.ts";

export interface TmuxOptions extends PiOptions {
  /** In cells. Default 120 by 50. */
  readonly size?: { readonly columns: number; readonly rows: number };
  /** What the screen must show before the start counts as done. Default: the footer with the model's context window. */
  readonly ready?: RegExp;
}

export interface PiTmux {
  /** Types `text` as it is, without Enter. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `Up`, … */
  keys(...names: string[]): Promise<void>;
  /** What the terminal shows now, without trailing blanks. After Pi's end, its last screen. */
  screen(): Promise<string>;
  /** Resolves to the first screen that matches. @throws {Error} with the last screen after `timeoutMs` (default 30 s). */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** Whether Pi still runs. */
  alive(): Promise<boolean>;
  /** Kills the terminal, Pi and whatever it started. */
  stop(): Promise<void>;
}

/** `screen-256color` is in every terminfo. With `escape-time` tmux would hold back an Escape, waiting for a sequence. */
const CONFIG = `
set -g status off
set -g remain-on-exit on
set -g escape-time 0
set -g extended-keys on
set -g default-terminal screen-256color
`;

const run = promisify(execFile);

/** Starts Pi in a real terminal: a tmux server of its own, without the user's configuration. */
export async function startTmux(options: TmuxOptions): Promise<PiTmux> {
  const { home, size = { columns: 120, rows: 50 }, ready = /\/128k/ } = options;
  const { file, args, cwd, env } = piCommand(options);
  const config = join(home, "tmux.conf");
  writeFileSync(config, CONFIG);
  const tmux = async (...command: string[]) => {
    const { stdout } = await run("tmux", ["-S", join(home, "tmux.sock"), "-f", config, ...command], { cwd, env });
    return stdout;
  };
  const release = reapAtExit(home);
  const { columns, rows } = size;
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", cwd, "--", file, ...args);

  const screen = async () => (await tmux("capture-pane", "-p")).replace(/[ \t]+$/gm, "").trimEnd();
  const terminal: PiTmux = {
    type: async (text) => void (await tmux("send-keys", "-l", "--", text)),
    keys: async (...names) => void (await tmux("send-keys", ...names)),
    screen,
    async waitFor(pattern, timeoutMs = 30_000) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const shown = await screen();
        if (pattern.test(shown)) return shown;
        if (Date.now() >= deadline) throw new Error(`no ${pattern} on screen in ${timeoutMs} ms:\n${shown}`);
        await sleep(100);
      }
    },
    alive: async () => (await tmux("display-message", "-p", "#{pane_dead}")).trim() === "0",
    async stop() {
      await reap(home);
      release();
    },
  };
  try {
    await terminal.waitFor(ready);
    await calm(Number(await tmux("display-message", "-p", "#{pane_pid}")));
  } catch (error) {
    await terminal.stop();
    throw error;
  }
  return terminal;
}

/**
 * Resolves once the process has waited for something for a while: 0.73.1 shows its editor before it listens to it,
 * and what is entered in between is lost.
 */
async function calm(pid: number): Promise<void> {
  if (process.platform !== "linux") return sleep(500);
  for (let samples = 0; samples < 8; await sleep(25)) samples = stateOf(pid) === "S" ? samples + 1 : 0;
}

/** See proc(5): `R` also stands for a process that waits for a processor. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
