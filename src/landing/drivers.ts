import { attributeValues } from "../git/check-attr.ts";
import { treeChanges } from "../git/diff-tree.ts";
import type { Git } from "../git/git.ts";
import type { TreePath } from "../git/names.ts";
import type { Plan } from "./state.ts";

export interface DriverPaths {
  readonly driver: string;
  readonly paths: readonly TreePath[];
}

/** Paths that both sides changed and that attributes give to a merge driver of the user's. */
export async function driverPaths(git: Git, plan: Plan): Promise<DriverPaths[]> {
  if (plan.drivers.length === 0) return [];
  const { mergeBase, sourceTip, targetTip } = plan;
  const ours = new Set((await treeChanges(git, mergeBase, targetTip)).map(({ path }) => path));
  const both = (await treeChanges(git, mergeBase, sourceTip)).map(({ path }) => path).filter((path) => ours.has(path));
  const values = await attributeValues(git, "merge", both);
  return plan.drivers.flatMap((driver) => {
    const paths = both.filter((path) => values.get(path) === driver);
    return paths.length === 0 ? [] : [{ driver, paths }];
  });
}
