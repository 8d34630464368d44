import type { Git } from "./git.ts";
import { type Oid, type RefName, toOid } from "./names.ts";

/** Where `ref` has been, newest first, as far as its log tells. */
export async function reflogOids(git: Git, ref: RefName): Promise<Oid[]> {
  const output = await git(["log", "--walk-reflogs", "--format=%H", "--no-show-signature", ref, "--"]);
  return output.text().split("\n").slice(0, -1).map(toOid);
}
