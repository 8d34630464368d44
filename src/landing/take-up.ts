import type { TreeChange } from "../git/diff-tree.ts";
import { branchRef, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { worktrees } from "../git/worktree-list.ts";
import { clearDeadLock } from "./dead-lock.ts";
import { settle } from "./settle.ts";
import type { Candidate, Note, Request } from "./state.ts";

/** Finishes a sync that a crash cut off. Edits that the user has made since are kept. */
export async function takeUp(
  repository: Repository,
  request: Request,
  holder: WorktreePath,
  candidate: Candidate,
  changes: readonly TreeChange[],
): Promise<Note[]> {
  const now = (await worktrees(repository.git)).find(({ path }) => path === holder);
  if (now?.branch !== branchRef(request.target) || now.head !== candidate.oid) {
    return [{ kind: "holder-left", worktree: holder }];
  }
  const git = repository.at(holder);
  const lock = await clearDeadLock(git, holder);
  const kept = await settle(git, holder, changes, "new");
  return [
    ...(lock === undefined ? [] : [{ kind: "removed-lock", file: lock } as const]),
    ...(kept.length === 0 ? [] : [{ kind: "kept-edits", paths: kept, worktree: holder } as const]),
  ];
}
