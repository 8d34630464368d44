import type { Static, TObject, TSchema } from "typebox";
import type { Repository } from "../src/git/repository.ts";
import { openRepository } from "../src/git/repository.ts";
import { withRepositoryLock } from "../src/journal/lock.ts";
import { type Blocked, blockedText, foreseen } from "./blocked.ts";
import { strict } from "./strict.ts";
import { foreign } from "./text.ts";

/** The run that goes on in this session. Tools act on its worktree; landing it is not theirs. */
export interface ActiveRun {
  readonly worktree: string;
  readonly branch: string;
}

export interface ToolDeps {
  readonly env: NodeJS.ProcessEnv;
  /** Limit of one git command in milliseconds; the hooks that it runs count. */
  readonly timeoutMs?: number;
  activeRun(): ActiveRun | undefined;
}

/** One call, its directory resolved. */
export interface Call {
  readonly cwd: string;
  readonly repository: Repository;
  readonly activeRun: ActiveRun | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The ending of a call: `details` for programs, `text` for the model. */
export interface Answer<Details> {
  readonly details: Details;
  readonly text: string;
}

interface ToolWords<Parameters extends TSchema> {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly promptSnippet: string;
  readonly promptGuidelines: string[];
  readonly parameters: Parameters;
  /** Tools that change something run one after the other. */
  readonly executionMode: "sequential" | "parallel";
}

interface ToolSpec<Parameters extends TSchema, Details> extends ToolWords<Parameters> {
  run(call: Call, params: Static<Parameters>): Promise<Answer<Details> | Blocked>;
}

export interface ToolResult<Details> {
  content: { type: "text"; text: string }[];
  details: Details;
}

/**
 * A tool as both hosts take it. Stated here rather than with the host's `defineTool`, whose package takes a
 * second to load: `npm run tool` has no host. `tools/index.ts` holds it against the host's own type.
 */
export interface AgentTool<Parameters extends TSchema = TSchema, Details = unknown> extends ToolWords<Parameters> {
  prepareArguments(args: unknown): Static<Parameters>;
  execute(
    toolCallId: string,
    params: Static<Parameters>,
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    ctx: { readonly cwd: string },
  ): Promise<ToolResult<Details>>;
}

/** Expected endings are returned, refusals among them. @throws {Error} on what was not foreseen, with a next step. */
export function agentTool<Parameters extends TObject, Details>(
  { env, timeoutMs, activeRun }: ToolDeps,
  { run, ...words }: ToolSpec<Parameters, Details>,
): AgentTool<Parameters, Details | Blocked> {
  return {
    ...words,
    prepareArguments: strict(words.parameters),
    async execute(_toolCallId, params, signal, _onUpdate, ctx) {
      const active = activeRun();
      const cwd = active?.worktree ?? ctx.cwd;
      try {
        const repository = await openRepository(cwd, {
          env,
          signal,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        });
        const answer = await run({ cwd, repository, activeRun: active, signal }, params);
        return "outcome" in answer ? blockedResult(answer) : result(answer);
      } catch (error) {
        const refusal = foreseen(error, cwd);
        if (refusal) return blockedResult(refusal);
        throw failure(words.name, error);
      }
    },
  };
}

function result<Details>({ details, text }: Answer<Details>): ToolResult<Details> {
  return { content: [{ type: "text", text }], details };
}

function blockedResult(details: Blocked): ToolResult<Blocked> {
  return result({ details, text: blockedText(details) });
}

function failure(tool: string, cause: unknown): Error {
  const words = foreign(cause instanceof Error ? cause.message : String(cause));
  const next = "Look at the state with list_worktrees and `git status` before calling again.";
  return new Error(`${tool} failed: ${words}\n${next}`, { cause });
}

/** How long a tool waits for another process; a model's turn hangs on it. */
const LOCK_WAIT_MS = 60_000;

/** Runs `change` while no other process of this package changes the repository. */
export function exclusively<T>({ repository, signal }: Call, change: () => Promise<T>): Promise<T> {
  return withRepositoryLock(repository.commonDir, change, { waitMs: LOCK_WAIT_MS, signal });
}
