import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { RequestRecord, Script } from "./scripted-model.ts";

export interface Host {
  readonly name: "legacy" | "current";
  /** The Node that runs it. */
  readonly node: string;
  readonly cli: string;
  readonly packageDir: string;
}

const SUPPORT = fileURLToPath(new URL(".", import.meta.url));
export const PACKAGE_ROOT = resolve(SUPPORT, "../..");

/** The host under test: `PI_HOST`, and for the current one `PI_HOST_DIR`, the folder that holds its `node_modules`. */
export const host: Host = hostFrom(process.env);

function hostFrom(env: NodeJS.ProcessEnv): Host {
  const name = env["PI_HOST"] ?? "legacy";
  if (name === "legacy") {
    const packageDir = join(PACKAGE_ROOT, "node_modules/@mariozechner/pi-coding-agent");
    return { name, node: process.execPath, cli: cliOf(packageDir), packageDir };
  }
  if (name !== "current") throw new TypeError(`PI_HOST must be "legacy" or "current", not ${JSON.stringify(name)}`);
  const dir = env["PI_HOST_DIR"];
  if (!dir) throw new TypeError("PI_HOST=current needs PI_HOST_DIR; scripts/compat.ts sets it");
  const packageDir = resolve(dir, "node_modules/@earendil-works/pi-coding-agent");
  return { name, node: resolve(dir, "node_modules/node/bin/node"), cli: cliOf(packageDir), packageDir };
}

function cliOf(packageDir: string): string {
  const { bin } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { bin: { pi: string } };
  return join(packageDir, bin.pi);
}

export interface PiOptions {
  /** Where Pi starts: the user's checkout. */
  readonly cwd: string;
  /** A folder for this Pi alone; becomes its HOME. It also marks every process that Pi starts, see {@link reap}. */
  readonly home: string;
  readonly script?: Script;
  /** Whether this package is loaded. Default true. */
  readonly product?: boolean;
  /** More extension files. */
  readonly extensions?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Laid over the settings of the Pi agent dir. */
  readonly settings?: Record<string, unknown>;
}

/** Files of a Pi home. */
export const agentDir = (home: string): string => join(home, ".pi/agent");
const scriptFile = (home: string): string => join(home, "script.json");
const logFile = (home: string): string => join(home, "requests.jsonl");

/**
 * The whole environment of a Pi child: nothing of ours but PATH, so no credentials, proxies or git bindings.
 * Offline mode also keeps the hosts from downloading `fd` and `rg`.
 */
export function hostEnv(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    TMPDIR: join(home, "tmp"),
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
    GIT_CONFIG_NOSYSTEM: "1",
    PI_CODING_AGENT_DIR: agentDir(home),
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
    PI_SCRIPT: scriptFile(home),
    PI_SCRIPT_LOG: logFile(home),
  };
}

/** Loads the product, the scripted model and what is named; nothing that the machine or the repository offers. */
export function hostArgs({ product = true, extensions = [], args = [] }: PiOptions): string[] {
  const loaded = [...(product ? [PACKAGE_ROOT] : []), join(SUPPORT, "scripted-model.ts"), ...extensions];
  return [
    ...["--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files"],
    ...loaded.flatMap((path) => ["-e", path]),
    ...["--model", "scripted/agent"],
    ...args,
  ];
}

export interface PiCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Prepares `home` and returns how to start Pi in it. Files that are there already, such as sessions, stay. */
export function piCommand(options: PiOptions, modeArgs: readonly string[] = []): PiCommand {
  const { cwd, home, script, settings, env } = options;
  mkdirSync(agentDir(home), { recursive: true });
  mkdirSync(join(home, "tmp"), { recursive: true });
  writeIfAbsent(join(home, ".gitconfig"), "[user]\n\tname = Test User\n\temail = test@example.com\n");
  // The hosts wait 2, 4 and 8 s between retries.
  const quick = { retry: { baseDelayMs: 50 }, enableInstallTelemetry: false };
  writeFileSync(join(agentDir(home), "settings.json"), JSON.stringify({ ...quick, ...settings }));
  if (script) writeScript(home, script);
  else writeIfAbsent(scriptFile(home), JSON.stringify({ passes: [] } satisfies Script));
  return {
    file: host.node,
    args: [host.cli, ...hostArgs(options), ...modeArgs],
    cwd,
    env: { ...hostEnv(home), PI_SCRIPT_MAIN: cwd, ...env },
  };
}

/** Replaces the script of a Pi, also of one that is running; its position in the passes stays. */
export function writeScript(home: string, script: Script): void {
  writeFileSync(scriptFile(home), JSON.stringify(script));
}

/** What the models were told so far, oldest first. */
export function requests(home: string): RequestRecord[] {
  if (!existsSync(logFile(home))) return [];
  const lines = readFileSync(logFile(home), "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as RequestRecord);
}

/** For failure messages: {@link requests} without the long parts, a line each. */
export function told(home: string): string {
  const brief = requests(home).map(({ kind, pass, lastUser, toolResults }) => ({ kind, pass, lastUser, toolResults }));
  return brief.map((request) => `told ${JSON.stringify(request).slice(0, 400)}`).join("\n");
}

function writeIfAbsent(path: string, text: string): void {
  if (!existsSync(path)) writeFileSync(path, text);
}
