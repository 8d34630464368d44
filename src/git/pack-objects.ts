import type { Git } from "./git.ts";

/**
 * Writes the objects that are in no pack yet into a new one, `git pack-objects`; what they are read from stays.
 * Without deltas, as this is about speed.
 *
 * @param prefix path of the new pack, up to its name's last dash.
 * @throws {GitError} `failed` when one of them is gone or damaged.
 */
export async function packObjects(git: Git, prefix: string, oids: readonly string[]): Promise<void> {
  const args = ["pack-objects", "--quiet", "--incremental", "--non-empty", "--window=0", prefix];
  await git(args, { stdin: oids.map((oid) => `${oid}\n`).join("") });
}
