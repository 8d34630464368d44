import type { Git } from "./git.ts";
import { type Oid, type RefName, toOid } from "./names.ts";

export interface RefTip {
  readonly ref: RefName;
  readonly oid: Oid;
  /** Set when the reference is symbolic. */
  readonly symbolicTo: RefName | undefined;
}

/** Every reference below `prefixes` (a full name, or a folder such as `refs/heads/ultrathink/`). */
export async function refTips(git: Git, prefixes: readonly string[]): Promise<RefTip[]> {
  const format = "--format=%(refname)%00%(objectname)%00%(symref)";
  const output = await git(["for-each-ref", format, ...prefixes]);
  return output
    .text()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [ref = "", oid = "", symref = ""] = line.split("\0");
      return { ref: ref as RefName, oid: toOid(oid), symbolicTo: symref === "" ? undefined : (symref as RefName) };
    });
}

/** Tip of exactly `ref`; `undefined` when there is no such reference. */
export async function refTip(git: Git, ref: RefName): Promise<RefTip | undefined> {
  return (await refTips(git, [ref])).find((tip) => tip.ref === ref);
}

/** Whether some reference holds `commit`, so that it stays when a detached HEAD goes. */
export async function isReachable(git: Git, commit: Oid): Promise<boolean> {
  const output = await git(["for-each-ref", "--count=1", `--contains=${commit}`]);
  return output.bytes.length > 0;
}
