import { refTip } from "../git/for-each-ref.ts";
import { branchRef, type Oid, type TreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { fileKind } from "../git/tree-file.ts";
import { createRef, deleteRef } from "../git/update-ref.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import type { Check, Policy } from "../landing/state.ts";
import { changesIn } from "../worktree/changes.ts";
import { deleteWorktree } from "../worktree/delete.ts";
import { type LandDeps, landRun } from "./land-run.ts";
import type { LoopEnd } from "./loop.ts";
import type { RunIdentity } from "./record.ts";
import type { Ending } from "./report.ts";
import { landsAfter } from "./stop.ts";

export type FinishDeps = LandDeps;

export type LandMode = Policy | "none";

export interface FinishOptions {
  readonly land: LandMode;
  readonly check?: Check;
}

/** Lands what the loop has left, or preserves it. */
export async function finish(deps: FinishDeps, end: LoopEnd, { land: mode, check }: FinishOptions): Promise<Ending> {
  const { repository, run, record } = deps;
  await record({ type: "stopped", stop: end.stop, tip: end.tip });
  const tip = await branchTip(deps, end);
  const { uncommitted, ignored } = await leftIn(repository, run);
  const empty = tip === run.base && uncommitted === 0;
  // Whoever ends the session may end the process: what is half cleaned up then would be in the way of a resume.
  const keeps = end.stop.kind === "git-error" || end.stop.kind === "session-ended";
  if (empty && !keeps) return { ...(await cleanUp(deps)), ignored };
  const lands = landsAfter(end.stop);
  if (!lands || mode === "none") {
    return {
      kind: "preserved",
      asAsked: lands,
      uncommitted,
      worktreeGone: await forgetMissingWorktree(repository, run),
    };
  }
  const { end: landing, message } = await landRun(deps, { policy: mode, check, signal: end.gap });
  if (landing.step === "stopped") {
    return { kind: "preserved", asAsked: false, reason: landing.reason, uncommitted, worktreeGone: false };
  }
  return { kind: "landed", outcome: landing.outcome, notes: landing.notes, message, ignored };
}

/** The scratch branch as it is; one that was deleted is put back where it was recorded last. */
async function branchTip({ repository: { git }, run }: FinishDeps, { tip }: LoopEnd): Promise<Oid> {
  const ref = branchRef(run.branch);
  const now = await refTip(git, ref);
  if (now !== undefined) return now.oid;
  await createRef(git, ref, tip, "ultrathink: the branch was deleted during the run");
  return tip;
}

/** Nothing was committed and nothing lies about: worktree and branch go. */
async function cleanUp({ repository, run, record }: FinishDeps): Promise<Ending & { kind: "nothing-to-land" }> {
  return withRepositoryLock(repository.commonDir, async () => {
    const why = await deleteWorktree(repository, run.worktree);
    if (why !== undefined) return { kind: "nothing-to-land", ignored: [], kept: { worktree: run.worktree, why } };
    await deleteRef(repository.git, branchRef(run.branch), run.base);
    await record({ type: "cleaned" });
    return { kind: "nothing-to-land", ignored: [] };
  });
}

/** The registration of a worktree whose directory was deleted would hold its branch for ever. */
async function forgetMissingWorktree({ git }: Repository, run: RunIdentity): Promise<boolean> {
  const registered = (await worktrees(git)).find(({ path }) => path === run.worktree);
  const gone = (await fileKind(run.worktree, "" as TreePath)) === "absent";
  if (!gone || registered === undefined) return gone;
  if (registered.locked !== undefined) await unlockWorktree(git, run.worktree);
  await removeWorktree(git, run.worktree);
  return true;
}

interface Left {
  /** Entries in no commit. */
  readonly uncommitted: number;
  /** What git ignores, or was copied in: it goes with the worktree. A whole directory counts once. */
  readonly ignored: readonly TreePath[];
}

async function leftIn(repository: Repository, { worktree, born }: RunIdentity): Promise<Left> {
  if ((await fileKind(worktree, ".git" as TreePath)) === "absent") return { uncommitted: 0, ignored: [] };
  const entries = await status(repository.at(worktree), { untracked: "all", ignored: true });
  const { work, copied } = await changesIn(worktree, entries, born);
  const ignored = entries.filter(({ kind }) => kind === "ignored").map(({ path }) => path);
  return { uncommitted: work.length, ignored: [...ignored, ...copied] };
}
