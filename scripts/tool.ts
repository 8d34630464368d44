/**
 * Runs one agent tool without a host: `npm run --silent tool -- <name> '<json>' [--cwd <dir>]`.
 *
 * Prints exactly one JSON object: `{ tool, content, details }` and exit 0 for any answer, refusals among them;
 * `{ tool, error: { message } }` and exit 1 for a failure. Beside the agents' tools there is `runs`, which is not theirs.
 * npm's own banner goes before it without `--silent`.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { agentTools } from "../tools/index.ts";
import { runsTool } from "./runs-tool.ts";

const USAGE = "usage: npm run --silent tool -- <name> '<json arguments>' [--cwd <directory>]";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());

const [argument = null] = process.argv.slice(2);
try {
  const { tool, args, cwd } = request(process.argv.slice(2));
  const { content, details } = await tool.execute("cli", tool.prepareArguments(args), stop.signal, undefined, { cwd });
  print({ tool: tool.name, content, details });
} catch (error) {
  print({ tool: argument, error: { message: error instanceof Error ? error.message : String(error) } });
  process.exitCode = 1;
}

function request(argv: readonly string[]) {
  const { positionals, values } = parseArgs({
    args: [...argv],
    options: { cwd: { type: "string" } },
    allowPositionals: true,
  });
  const [name, json = "{}", ...rest] = positionals;
  if (name === undefined || rest.length > 0) throw new Error(USAGE);
  const deps = { env: process.env, activeRun: () => undefined };
  const tools = [...agentTools(deps), runsTool(deps)];
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) {
    throw new Error(`There is no tool ${name}; the tools are ${tools.map((each) => each.name).join(", ")}. ${USAGE}`);
  }
  // npm runs a script in the package's folder and says here where it was called.
  const from = process.env["INIT_CWD"] ?? process.cwd();
  return { tool, args: parsed(json), cwd: resolve(from, values.cwd ?? ".") };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`The arguments are not JSON (${(error as Error).message}). ${USAGE}`);
  }
}

/** The process ends by itself once the answer is written: `process.exit` would cut it off in a pipe. */
function print(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
