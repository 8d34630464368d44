/**
 * Checks the package against the current host, which needs a newer Node than the legacy one that is a devDependency:
 * its types, then the end-to-end tests. Arguments go to vitest: `npm run compat -- -t "print mode"`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSIONS = { host: "1.6.0", node: "24.21.0" };

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const dir = installedHost();
const ok = [typeCheck(dir), endToEnd(dir, process.argv.slice(2))];
process.exitCode = ok.every(Boolean) ? 0 : 1;

/** The folder that holds the host's `node_modules`; outside the tree, and shared by all checkouts of it. */
function installedHost(): string {
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "pi-ultratree");
  const dir = join(cache, `compat-${VERSIONS.host}-node-${VERSIONS.node}-${process.platform}-${process.arch}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(`${dir}-`);
  try {
    const host = `@earendil-works/pi-coding-agent@${VERSIONS.host}`;
    const flags = [
      "--prefix",
      unfinished,
      "--save-exact",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel",
      "error",
    ];
    const installed = run("npm", ["install", ...flags, host, `node@npm:${nodePackage()}@${VERSIONS.node}`]);
    if (!installed) throw new Error("npm could not install the current host");
    const { stdout } = spawnSync(join(unfinished, "node_modules/node/bin/node"), ["--version"], { encoding: "utf8" });
    if (stdout?.trim() !== `v${VERSIONS.node}`) throw new Error(`the installed Node reports ${stdout}`);
    publish(unfinished, dir);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return dir;
}

/** Keeps the folder of another process that finished first. */
function publish(unfinished: string, dir: string): void {
  try {
    renameSync(unfinished, dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

/** The `node` package is an install script that fetches this one, under a name of its own on Apple silicon. */
function nodePackage(): string {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const prefix = platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  return `${prefix}-${platform}-${process.arch}`;
}

/** Resolves the host's names as the current host's loader does: the old ones are aliases of its own packages. */
function typeCheck(dir: string): boolean {
  const modules = join(dir, "node_modules");
  const earendil = join(modules, "@earendil-works");
  const config = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      paths: {
        "@mariozechner/pi-coding-agent": [join(earendil, "pi-coding-agent/dist/index.d.ts")],
        "@mariozechner/pi-ai": [join(earendil, "pi-ai/dist/compat.d.ts")],
        "@mariozechner/pi-tui": [join(earendil, "pi-tui/dist/index.d.ts")],
        "@earendil-works/pi-tui": [join(earendil, "pi-tui/dist/index.d.ts")],
        typebox: [join(modules, "typebox/build/index.d.mts")],
        "typebox/*": [join(modules, "typebox/build/*/index.d.mts")],
      },
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
  };
  const path = join(dir, `tsconfig.${process.pid}.json`);
  writeFileSync(path, JSON.stringify(config, null, 2));
  try {
    return run(join(ROOT, "node_modules/.bin/tsc"), ["--project", path]);
  } finally {
    rmSync(path);
  }
}

function endToEnd(dir: string, args: readonly string[]): boolean {
  const env = { ...process.env, PI_HOST: "current", PI_HOST_DIR: dir };
  return run(join(ROOT, "node_modules/.bin/vitest"), ["run", "test/end-to-end", ...args], env);
}

function run(file: string, args: readonly string[], env = process.env): boolean {
  const { status, error } = spawnSync(file, args, { cwd: ROOT, env, stdio: "inherit" });
  if (error) throw error;
  return status === 0;
}
