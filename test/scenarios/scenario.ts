import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const SCRIPTS = fileURLToPath(new URL("scripts", import.meta.url));

/**
 * A hostile repository: a shell script that builds it with plain git, whose header names the call under test and
 * what must hold afterwards.
 */
export interface Scenario {
  readonly name: string;
  readonly file: string;
  /** What is hostile about it. */
  readonly about: string;
  /** The right outcome, in words. */
  readonly expect: string;
  readonly call: { readonly tool: string; readonly json: string; readonly cwd: string };
  readonly env: readonly string[];
  /** What the scripted agent does in each pass, as shell text. */
  readonly agent: readonly string[];
  /** Files, below the folder, that must not change by a byte. */
  readonly keep: readonly string[];
  readonly checks: {
    readonly ok: readonly string[];
    readonly fail: readonly string[];
    readonly any: readonly string[];
  };
  readonly teardown: string | undefined;
}

export function scenarios(prefix: string): Scenario[] {
  return readdirSync(SCRIPTS)
    .filter((name) => name.startsWith(prefix) && name.endsWith(".sh"))
    .sort()
    .map((name) => parse(join(SCRIPTS, name)));
}

function parse(file: string): Scenario {
  const header = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("# "))
    .map((line) => line.slice(2));
  const values = (key: string) =>
    header.flatMap((line) => (line.startsWith(`${key}: `) ? line.slice(key.length + 2) : []));
  const [call = ""] = values("CALL");
  const match = /^(\S+) (.*) @(\S+)$/.exec(call);
  if (!match) throw new SyntaxError(`${file}: no CALL`);
  const [, tool = "", json = "", cwd = ""] = match;
  const agent = header.flatMap((line) => /^AGENT \d+: (.*)$/.exec(line)?.[1] ?? []);
  return {
    name: basename(file, ".sh"),
    file,
    about: header[0] ?? "",
    expect: values("EXPECT").join(" "),
    call: { tool, json, cwd },
    env: values("ENV"),
    agent,
    keep: values("KEEP").flatMap((line) => line.split(" ")),
    checks: { ok: values("CHECK-OK"), fail: values("CHECK-FAIL"), any: values("CHECK-ANY") },
    teardown: values("TEARDOWN")[0],
  };
}

/** A scenario's repositories, built in a folder of their own. */
export interface Built {
  readonly base: string;
  readonly cwd: string;
  /** Of the process under test. */
  readonly env: NodeJS.ProcessEnv;
  /** Without what is hostile in it. */
  readonly plainEnv: NodeJS.ProcessEnv;
  readonly args: unknown;
  /** Checks that do not hold, and kept files that changed; empty when all is well. */
  problems(outcome: "ok" | "fail"): Promise<string[]>;
  remove(): void;
}

export function build(scenario: Scenario): Built {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ultratree-")));
  const env: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    HOME: base,
    TMPDIR: tmpdir(),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C",
  };
  const shell = (script: string, extra: NodeJS.ProcessEnv = {}) =>
    spawnSync("bash", ["-c", script], { cwd: base, env: { ...env, BASE: base, ...extra }, encoding: "utf8" });
  const remove = () => {
    if (scenario.teardown !== undefined) shell(scenario.teardown);
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    execFileSync("bash", [scenario.file, base], { env, stdio: "pipe" });
  } catch (error) {
    remove();
    throw error;
  }
  const expand = (text: string): string =>
    text.replace(/\$(BASE|FEATURE|TOPIC)\b/g, (_, name: string) => {
      if (name === "BASE") return base;
      return execFileSync("git", ["-C", "repo", "rev-parse", name.toLowerCase()], {
        cwd: base,
        env,
        encoding: "utf8",
      }).trim();
    });
  const bytes = () =>
    scenario.keep.map((file) => (existsSync(join(base, file)) ? readFileSync(join(base, file), "base64") : ""));
  const before = bytes();
  const { ok, fail, any } = scenario.checks;
  return {
    base,
    cwd: join(base, scenario.call.cwd),
    env: { ...env, ...Object.fromEntries(scenario.env.map((line) => expand(line).split(/=(.*)/s).slice(0, 2))) },
    plainEnv: env,
    args: scenario.call.tool === "run" ? undefined : JSON.parse(expand(scenario.call.json)),
    async problems(outcome) {
      const failed: string[] = [];
      for (const check of [...(outcome === "ok" ? ok : fail), ...any]) {
        // A process that was ended a moment ago may still be a zombie.
        for (let tries = 0; shell(check).status !== 0; tries++) {
          if (tries === 20) {
            failed.push(check);
            break;
          }
          await sleep(100);
        }
      }
      const after = bytes();
      return [
        ...failed,
        ...scenario.keep
          .filter((_, index) => before[index] !== "" && before[index] !== after[index])
          .map((file) => `${file} changed`),
      ];
    },
    remove,
  };
}
