import type { TreeChange } from "../git/diff-tree.ts";
import { branchRef, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import type { WorktreeDirs } from "../git/rev-parse.ts";
import { worktrees } from "../git/worktree-list.ts";
import { clearOwnLock, HolderLockedError, lockIndex } from "./holder-index.ts";
import { settleEntries, settleFiles } from "./settle.ts";
import type { Candidate, Note, Request } from "./state.ts";

export interface Interrupted {
  readonly holder: WorktreePath;
  readonly holderDirs: WorktreeDirs;
  readonly changes: readonly TreeChange[];
}

/** Finishes a sync that a crash cut off. Edits that the user has made since are kept. */
export async function takeUp(
  repository: Repository,
  request: Request,
  candidate: Candidate,
  { holder, holderDirs, changes }: Interrupted,
): Promise<Note[]> {
  const now = (await worktrees(repository.git)).find(({ path }) => path === holder);
  if (now?.branch !== branchRef(request.target) || now.head !== candidate.oid) {
    return [{ kind: "holder-left", worktree: holder }];
  }
  const git = repository.at(holder);
  const removed = await clearOwnLock(holderDirs, request.id);
  const kept = await settleFiles(git, holder, changes, "new");
  const lock = await lockIndex(holderDirs, request.id);
  if (lock.kind === "held-by-another") throw new HolderLockedError(lock.file);
  try {
    await settleEntries(git, changes, "new", lock.index.env);
    await lock.index.publish();
  } finally {
    await lock.index.release();
  }
  return [
    ...(removed === undefined ? [] : [{ kind: "removed-lock", file: removed } as const]),
    ...(kept.length === 0 ? [] : [{ kind: "kept-edits", paths: kept, worktree: holder } as const]),
  ];
}
