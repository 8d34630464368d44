import { lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ifAbsent } from "../git/tree-file.ts";
import { runProcess } from "../process/run-process.ts";
import { type SandboxProgram, sandboxCommand } from "./sandbox.ts";

export type SandboxMode = "auto" | "require" | "off";

/** What confines the agent's commands during a run. */
export type SandboxInForce =
  | {
      readonly kind: SandboxProgram;
      readonly network: boolean;
      /** False in a repository whose references are in one table (reftable). */
      readonly coversRefs: boolean;
    }
  /** Redirection only; `why` is missing when the user wants it so. */
  | { readonly kind: "none"; readonly why?: string };

export type Detected =
  | { readonly kind: "ready"; readonly sandbox: SandboxInForce }
  | { readonly kind: "refused"; readonly message: string };

export interface DetectOptions {
  readonly mode: SandboxMode;
  readonly network: boolean;
  /** The user's checkout, and where its repository is. */
  readonly checkout: string;
  readonly commonDir: string;
  readonly env: NodeJS.ProcessEnv;
}

const LIMIT_MS = 10_000;

/** Looks which sandbox there is, by running a command in it that must fail to write. */
export async function detectSandbox(options: DetectOptions, platform = process.platform): Promise<Detected> {
  const { mode, network, commonDir } = options;
  if (mode === "off") return { kind: "ready", sandbox: { kind: "none" } };
  const program = platform === "linux" ? "bubblewrap" : platform === "darwin" ? "sandbox-exec" : undefined;
  const problem = program === undefined ? { why: "there is none for this system" } : await problemOf(program, options);
  if (program !== undefined && problem === undefined) {
    const coversRefs = (await lstat(join(commonDir, "reftable")).catch(ifAbsent)) === undefined;
    return { kind: "ready", sandbox: { kind: program, network, coversRefs } };
  }
  const why = problem?.why ?? "";
  if (mode === "auto") return { kind: "ready", sandbox: { kind: "none", why } };
  const next = problem?.next === undefined ? "" : `${problem.next}, or `;
  return {
    kind: "refused",
    message: `a sandbox is required by ~/.pi/ultrathink.json, but ${why}: nothing was started. Next: ${next}set sandbox to "auto" there.`,
  };
}

interface Problem {
  readonly why: string;
  readonly next?: string;
}

async function problemOf(program: SandboxProgram, options: DetectOptions): Promise<Problem | undefined> {
  const { network, checkout, env } = options;
  const folder = await realpath(await mkdtemp(join(tmpdir(), "ultrathink-probe-")));
  try {
    const rules = [await realpath(checkout), folder].map((path) => ({ access: "read", path }) as const);
    const [file = "", ...args] = sandboxCommand({ program, rules, network });
    const script = ["/bin/sh", "-c", 'if (: >"$1/written") 2>/dev/null; then exit 98; fi', "sh", folder];
    const limits = { cwd: checkout, env, timeoutMs: LIMIT_MS, outputLimitBytes: 64 * 1024 };
    const { exit, stderr } = await runProcess(file, [...args, ...script], limits);
    if (exit.kind === "exited" && exit.code === 0) return undefined;
    const said = stderr.toString().trim().split("\n", 1)[0] || exitWords(exit);
    return {
      why: `${program} does not work here (${said})`,
      next: "allow unprivileged user namespaces (most containers forbid them)",
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { why: `${program} is not installed`, next: `install the Debian package ${program}` };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function exitWords(exit: Awaited<ReturnType<typeof runProcess>>["exit"]): string {
  if (exit.kind !== "exited") return exit.kind;
  return exit.code === 98 ? "what is read-only could be written" : `exit code ${exit.code}`;
}
