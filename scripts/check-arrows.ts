/**
 * Dependencies point one way. `npm run arrows [folder]` prints each import that does not as `file:line: what`, and
 * exits 1 when there is one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** From the bottom up: a file imports from its own layer and from those below. */
const LAYERS: readonly (readonly string[])[] = [
  ["src/process"],
  ["src/git"],
  ["src/config", "src/naming"],
  ["src/worktree", "src/isolation", "src/journal", "src/github"],
  ["src/landing"],
  ["src/run", "src/oracle", "src/review"],
  ["src/host", "src/ui", "src/commands", "tools"],
  ["src/extension.ts"],
];

/** Usable from the layer of runs upwards only: nothing that touches a repository asks a model or reads a config. */
const FOR_RUNS_AND_ABOVE = ["src/config", "src/naming"];
const RUN_LAYER = layerIndex("src/run");

const HOST_PACKAGES = /^@(?:mariozechner|earendil-works)\//;
const MAY_IMPORT_HOST = ["src/host", "src/ui", "src/commands", "src/extension.ts", "tools"];

interface Import {
  readonly line: number;
  readonly specifier: string;
}

export interface Violation extends Import {
  readonly file: string;
  readonly problem: string;
}

/** @param root folder that holds `src` and `tools`. */
export function violations(root: string): Violation[] {
  return ["src", "tools"].flatMap((folder) =>
    sourceFiles(join(root, folder)).flatMap((path) => {
      const file = relative(root, path).split(sep).join("/");
      return importsOf(readFileSync(path, "utf8")).flatMap((found) => {
        const problem = problemOf(file, found.specifier);
        return problem === undefined ? [] : [{ file, ...found, problem }];
      });
    }),
  );
}

function sourceFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
}

/** Static, dynamic and type imports, and re-exports. */
function importsOf(text: string): Import[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g)].map(({ 1: specifier = "", index }) => ({
    line: text.slice(0, index).split("\n").length,
    specifier,
  }));
}

function problemOf(file: string, specifier: string): string | undefined {
  if (HOST_PACKAGES.test(specifier)) {
    return isIn(file, MAY_IMPORT_HOST) ? undefined : "only host, ui, commands, tools and the extension import the host";
  }
  if (specifier === "node:child_process" || specifier === "child_process") {
    return isIn(file, ["src/process"]) ? undefined : "only src/process starts processes";
  }
  if (!specifier.startsWith(".")) return undefined;
  const target = posix.join(dirname(file), specifier);
  const from = layerIndex(file);
  const to = layerIndex(target);
  if (from < 0) return "the file is in no layer; add its folder to scripts/check-arrows.ts";
  if (to < 0) return "it is in no layer";
  if (to > from) return "it is in a layer above";
  if (from < RUN_LAYER && isIn(target, FOR_RUNS_AND_ABOVE) && !isIn(file, FOR_RUNS_AND_ABOVE)) {
    return "only src/run and the layers above it use config and naming";
  }
  return undefined;
}

function layerIndex(path: string): number {
  return LAYERS.findIndex((folders) => isIn(path, folders));
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

const [, script = "", root = fileURLToPath(new URL("..", import.meta.url))] = process.argv;
if (fileURLToPath(import.meta.url) === script) {
  const found = violations(root);
  for (const { file, line, specifier, problem } of found)
    console.log(`${file}:${line}: imports ${specifier}: ${problem}`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
