import { agentTools } from "../../tools/index.ts";

/** One call of create_worktree in a process of its own. Arguments: directory, path, branch. */
const [cwd = "", worktreePath = "", branchName = ""] = process.argv.slice(2);
const tool = agentTools({ env: process.env, activeRun: () => undefined }).find(
  ({ name }) => name === "create_worktree",
);
const args = { worktreePath, branchName, branchMode: "new" };
const result = await tool?.execute("call", args, undefined, undefined, { cwd });
process.stdout.write(JSON.stringify(result?.details));
