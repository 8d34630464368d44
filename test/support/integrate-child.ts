import { agentTools } from "../../tools/index.ts";

/** Integrates each of the branches named into main, one after the other, in a process of its own. */
const [repository = "", ...branches] = process.argv.slice(2);
const tool = agentTools({ env: process.env, activeRun: () => undefined }).find(
  ({ name }) => name === "integrate_branch",
);
const outcomes: Record<string, unknown> = {};
for (const sourceBranch of branches) {
  const result = await tool?.execute("call", { sourceBranch, targetBranch: "main" }, undefined, undefined, {
    cwd: repository,
  });
  outcomes[sourceBranch] = result?.details;
}
process.stdout.write(JSON.stringify(outcomes));
