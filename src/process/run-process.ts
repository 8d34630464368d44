import { spawn } from "node:child_process";

/** How a child ended. A signal or timeout is never folded into a made-up exit code. */
export type Exit =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "timed-out"; readonly afterMs: number }
  | { readonly kind: "aborted" }
  | { readonly kind: "output-limit"; readonly limitBytes: number };

export interface ProcessOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: string | Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Wall-clock limit in milliseconds. */
  readonly timeoutMs: number;
  /** Limit on stdout plus stderr, in bytes. */
  readonly outputLimitBytes: number;
  /** Receives both as they come; characters may be cut in two. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

export interface ProcessResult {
  readonly exit: Exit;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Time between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 2_000;

/** How long a child that has exited may hold its pipes open, by way of a process it left behind. */
const PIPE_GRACE_MS = 500;

/**
 * Runs `file` without a shell and resolves once it and its pipes have closed.
 *
 * Every ending the child can have is a value of {@link Exit}; the caller decides which are failures.
 * Stopping the child signals its whole process group, so hooks that git started stop too. A background
 * process that keeps the pipes open after the child's exit is not waited for, nor ended.
 *
 * @throws {NodeJS.ErrnoException} only when the child never started (`ENOENT`, `EACCES`, …).
 */
export function runProcess(file: string, args: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  const { cwd, env, stdin, signal, timeoutMs, outputLimitBytes, onOutput } = options;
  if (signal?.aborted) {
    return Promise.resolve({ exit: { kind: "aborted" }, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
  }
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let outputBytes = 0;
    let stoppedBy: Exit | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    let pipeTimer: NodeJS.Timeout | undefined;

    const stop = (reason: Exit): void => {
      if (stoppedBy) return;
      stoppedBy = reason;
      signalGroup(child.pid, "SIGTERM");
      killTimer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), KILL_GRACE_MS);
    };
    const onAbort = (): void => stop({ kind: "aborted" });
    const collect =
      (chunks: Buffer[]) =>
      (chunk: Buffer): void => {
        outputBytes += chunk.length;
        if (outputBytes > outputLimitBytes) stop({ kind: "output-limit", limitBytes: outputLimitBytes });
        else chunks.push(chunk);
        onOutput?.(chunk.toString());
      };
    const timeout = setTimeout(() => stop({ kind: "timed-out", afterMs: timeoutMs }), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    const release = (): void => {
      clearTimeout(timeout);
      clearTimeout(killTimer);
      clearTimeout(pipeTimer);
      signal?.removeEventListener("abort", onAbort);
    };

    child.stdout.on("data", collect(stdout));
    child.stderr.on("data", collect(stderr));
    // A child that exits without reading its input closes the pipe under us; its exit code tells the story.
    child.stdin.on("error", () => undefined);
    child.stdin.end(stdin);
    child.on("error", (error) => {
      release();
      reject(error);
    });
    child.on("exit", () => {
      pipeTimer = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, PIPE_GRACE_MS);
    });
    child.on("close", (code, killedBy) => {
      // What a stopped child leaves in its group (a hook that ignored SIGTERM) must not outlive the call.
      if (stoppedBy) signalGroup(child.pid, "SIGKILL");
      release();
      resolve({
        exit: stoppedBy ?? ended(code, killedBy),
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr),
      });
    });
  });
}

function ended(code: number | null, signal: NodeJS.Signals | null): Exit {
  return signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
