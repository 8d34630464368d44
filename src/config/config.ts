import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { nanoid } from "nanoid";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

export const LAND_MODES = ["auto", "rebase", "merge", "squash", "none"] as const;
export const SANDBOX_MODES = ["auto", "require", "off"] as const;

const FREE = "(?:[^{}]|\\{(?:repo|parent|slug)\\})*";
const WORKTREES_TEMPLATE = `^${FREE}\\{slug\\}${FREE}$`;

/** Every key of `~/.pi/ultrathink.json`. Unknown keys are kept. */
export const ConfigSchema = Type.Object({
  naming: Type.Optional(
    Type.Object({
      provider: Type.String({ minLength: 1, description: "Provider of the naming model." }),
      modelId: Type.String({ minLength: 1, description: "Id of the naming model." }),
    }),
  ),
  max: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Iterations of a run at the most." })),
  land: Type.Optional(
    Type.Union(
      LAND_MODES.map((mode) => Type.Literal(mode)),
      { description: "How a finished run lands." },
    ),
  ),
  check: Type.Optional(Type.String({ minLength: 1, description: "Command that must pass before a run lands." })),
  reviewInstructions: Type.Optional(Type.String({ description: "What each review message asks for." })),
  include: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: "Ignored files that a run's worktree gets a copy of, as patterns of gitignore(5).",
    }),
  ),
  setup: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Command that makes a new worktree ready, run in it before the agent starts.",
    }),
  ),
  setupMinutes: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 240, description: "How long `setup` may take (default 10)." }),
  ),
  worktrees: Type.Optional(
    Type.String({
      pattern: WORKTREES_TEMPLATE,
      description: "Where worktrees go: a path with {slug} in it, and {repo} or {parent} where wanted.",
    }),
  ),
  allowTools: Type.Optional(
    Type.Array(Type.String(), { description: "Tools of other extensions that may be used during a run." }),
  ),
  sandbox: Type.Optional(
    Type.Union(
      SANDBOX_MODES.map((mode) => Type.Literal(mode)),
      { description: "Whether shell commands of a run are confined: where possible, or no run without, or not." },
    ),
  ),
  sandboxNetwork: Type.Optional(Type.Boolean({ description: "Whether confined commands reach the network." })),
});

export type Config = Static<typeof ConfigSchema>;

/** The config file is not what it should be. It is never overwritten. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export function configPath(home = homedir()): string {
  return join(home, ".pi", "ultrathink.json");
}

/** @throws {ConfigError} when the file is there and cannot be read as a config. */
export async function loadConfig(path = configPath()): Promise<Config> {
  const value = await readObject(path);
  if (Value.Check(ConfigSchema, value)) return value;
  const problems = Value.Errors(ConfigSchema, value).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new ConfigError(`${path}: ${problems.join("; ")}. Correct it and start again; nothing was changed.`);
}

/**
 * Sets keys of the config file without touching the others, atomically. A symbolic link to it stays one.
 *
 * @throws {ConfigError} when the file is there and does not parse.
 */
export async function saveConfig(changes: Config, path = configPath()): Promise<void> {
  const value = { ...(await readObject(path)), ...changes };
  await mkdir(dirname(path), { recursive: true });
  const file = (await realpath(path).catch(ifAbsent)) ?? path;
  const temporary = `${file}.${nanoid(8)}`;
  await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function readObject(path: string): Promise<object> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "{}";
    throw new ConfigError(`${path} cannot be read: ${error.message}`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(
      `${path} is not valid JSON (${(error as SyntaxError).message}). Correct or remove it and start again; nothing was changed.`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new ConfigError(
    `${path} does not hold a JSON object. Correct or remove it and start again; nothing was changed.`,
  );
}
