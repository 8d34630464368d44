import type { Git } from "./git.ts";
import type { Oid, RefName } from "./names.ts";

/**
 * Moves `ref` from `from` to `to`, or leaves it alone: git compares and swaps under the ref lock.
 *
 * @param reason reflog message; it is how a user finds the way back.
 * @throws {GitError} `stale-ref` when the ref is not at `from`; `locked` when another process holds it;
 *   `hook-rejected` when a reference-transaction hook vetoes.
 */
export async function updateRef(git: Git, ref: RefName, from: Oid, to: Oid, reason: string): Promise<void> {
  await git(["update-ref", "-m", reason, ref, to, from]);
}

/** Creates `ref`, or leaves the one that is there. @throws {GitError} `stale-ref` when it exists elsewhere. */
export async function createRef(git: Git, ref: RefName, at: Oid, reason: string): Promise<void> {
  await git(["update-ref", "--create-reflog", "-m", reason, ref, at, "0".repeat(at.length)]);
}

/** One reference of a transaction; without `from` it is written whether or not it exists. */
export interface RefMove {
  readonly ref: RefName;
  readonly from?: Oid;
  readonly to: Oid;
}

/**
 * Moves all of `moves` or none of them.
 *
 * @throws {GitError} as {@link updateRef}.
 */
export async function moveRefs(git: Git, reason: string, moves: readonly RefMove[]): Promise<void> {
  const commands = moves.map(({ ref, from = "", to }) => `update ${ref}\0${to}\0${from}\0`);
  // git's own limit of 100 ms is short beside somebody who commits at this moment.
  await git(["-c", "core.filesRefLockTimeout=2000", "update-ref", "-m", reason, "--stdin", "-z"], {
    stdin: commands.join(""),
  });
}

/** Deletes `ref` if it is at `at`. @throws {GitError} `stale-ref` when it is not. */
export async function deleteRef(git: Git, ref: RefName, at: Oid): Promise<void> {
  await git(["update-ref", "-d", ref, at]);
}
