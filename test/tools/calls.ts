import { type ActiveRun, agentTools } from "../../tools/index.ts";
import type { TestRepo } from "../support/repo.ts";

export interface CallOptions {
  readonly cwd?: string;
  readonly activeRun?: ActiveRun;
  readonly signal?: AbortSignal;
}

/** Calls a tool as a host does: arguments as the model sent them, `prepareArguments` first. */
export async function callTool(
  repo: TestRepo,
  name: string,
  args: unknown = {},
  { cwd = repo.path, activeRun, signal }: CallOptions = {},
): Promise<{ details: Record<string, unknown>; text: string }> {
  const tools = agentTools({ env: repo.env(), activeRun: () => activeRun });
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const { content, details } = await tool.execute("call", tool.prepareArguments(args), signal, undefined, { cwd });
  return { details: details as Record<string, unknown>, text: content.map(({ text }) => text).join("\n") };
}

/** Everything that a refused call must leave alone. */
export function everything(repo: TestRepo): unknown {
  return { ...repo.snapshot(), refs: repo.git("for-each-ref"), worktrees: repo.git("worktree", "list", "--porcelain") };
}
