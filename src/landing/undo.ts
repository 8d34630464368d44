import { refTips } from "../git/for-each-ref.ts";
import { type BranchName, branchRef, type Oid } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { worktrees } from "../git/worktree-list.ts";
import { backupRefs } from "./backup-refs.ts";
import { holderOf } from "./holder.ts";
import { performIn } from "./perform.ts";
import { type Record, runLanding } from "./run.ts";
import type { End, State, StopReason } from "./state.ts";

export interface UndoRequest {
  /** Names this undo in reflogs and backup refs. */
  readonly id: string;
  /** The landing to undo. */
  readonly landing: string;
  readonly source: BranchName;
  readonly target: BranchName;
  /** Where the landing moved the target. */
  readonly landed: Oid;
}

/** What an undo ended in: a landing's own ends, or a landing that is not there to undo. */
export type Undone = End | { readonly step: "nothing-to-undo"; readonly why: string };

/**
 * Moves the target back to where it was before a landing, by the landing machine itself: the same look at the
 * holder, the same compare-and-swap, the same sync. The user's uncommitted changes stay.
 *
 * What landed stays reachable under this undo's own backup refs.
 *
 * Call it under the repository lock.
 */
export async function undoLanding(repository: Repository, undo: UndoRequest, record: Record): Promise<Undone> {
  const backup = backupRefs(undo.landing);
  const target = branchRef(undo.target);
  const tips = new Map((await refTips(repository.git, [backup.target, target])).map(({ ref, oid }) => [ref, oid]));
  const before = tips.get(backup.target);
  const now = tips.get(target);
  if (before === undefined) {
    return { step: "nothing-to-undo", why: `no backup of landing ${undo.landing} is left (${backup.target})` };
  }
  if (now !== undefined && now !== undo.landed) {
    return {
      step: "nothing-to-undo",
      why: `${undo.target} is at ${now}, no longer where the landing left it (${undo.landed}); git revert what came with it instead`,
    };
  }
  const request = { id: undo.id, source: undo.source, target: undo.target, policy: "integrate" } as const;
  const stopped = async (reason: StopReason): Promise<End> => {
    const end = { step: "stopped", request, reason } as const;
    await record(end);
    return end;
  };
  if (now === undefined) return stopped({ kind: "branch-missing", branch: undo.target });
  const holder = await holderOf(repository, target, await worktrees(repository.git));
  if (holder.kind === "refused") return stopped(holder.reason);

  const start: State = {
    step: "advancing",
    request,
    plan: {
      sourceTip: undo.landed,
      targetTip: undo.landed,
      mergeBase: before,
      build: "undo",
      ...(holder.kind === "held" ? { holder: holder.worktree.path, holderDirs: holder.dirs } : {}),
      sign: false,
      drivers: [],
      attempt: 1,
      notes: [],
    },
    candidate: { oid: before, rewritten: [] },
    notes: [],
  };
  return runLanding(start, performIn({ repository }), record);
}
