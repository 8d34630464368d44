import type { Git } from "./git.ts";
import { type Oid, toOid } from "./names.ts";

/** Every merge base of two commits; none when their histories are unrelated. */
export async function mergeBases(git: Git, one: Oid, other: Oid): Promise<Oid[]> {
  const output = await git(["merge-base", "--all", one, other], { okCodes: [0, 1] });
  return output.text().split("\n").slice(0, -1).map(toOid);
}

/** Whether `ancestor` is `descendant` or one of its ancestors. */
export async function isAncestor(git: Git, ancestor: Oid, descendant: Oid): Promise<boolean> {
  const output = await git(["merge-base", "--is-ancestor", ancestor, descendant], { okCodes: [0, 1] });
  return output.code === 0;
}
