import type { RefName } from "../git/names.ts";

/** References of one run or landing, which keep reachable what its branches may no longer hold. */
export interface BackupRefs {
  /** What landed, as it was before it was rebased or merged. */
  readonly source: RefName;
  /** The target before the landing. */
  readonly target: RefName;
  /** A run's newest commit, as this package has recorded it. */
  readonly tip: RefName;
}

export function backupRefs(id: string): BackupRefs {
  const ref = (name: string) => `refs/ultrathink/${id}/${name}` as RefName;
  return { source: ref("source"), target: ref("target"), tip: ref("tip") };
}
