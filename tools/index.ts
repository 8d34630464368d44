import type { ToolDefinition } from "@mariozechner/pi-coding-agent";
import { commitIterationTool } from "./commit-iteration.ts";
import { createWorktreeTool } from "./create-worktree.ts";
import { integrateBranchTool } from "./integrate-branch.ts";
import { listWorktreesTool } from "./list-worktrees.ts";
import { removeWorktreeTool } from "./remove-worktree.ts";
import type { AgentTool, ToolDeps } from "./tool.ts";

export type { ActiveRun, AgentTool, ToolDeps } from "./tool.ts";

/** Every tool, in the order in which a host lists them. */
export function agentTools(deps: ToolDeps): AgentTool[] {
  return [
    listWorktreesTool(deps),
    createWorktreeTool(deps),
    commitIterationTool(deps),
    integrateBranchTool(deps),
    removeWorktreeTool(deps),
  ] satisfies ToolDefinition[];
}
