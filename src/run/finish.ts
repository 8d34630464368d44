import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { commitsBetween } from "../git/log.ts";
import { branchRef, type Oid, type TreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { fileKind } from "../git/tree-file.ts";
import { deleteRef } from "../git/update-ref.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { performIn } from "../landing/perform.ts";
import { runLanding } from "../landing/run.ts";
import type { Policy } from "../landing/state.ts";
import type { Complete } from "../naming/ask.ts";
import { mergeMessage, messageText } from "../naming/message.ts";
import type { LoopEnd } from "./loop.ts";
import type { Progress } from "./progress.ts";
import type { Recorder, RunIdentity } from "./record.ts";
import type { Ending } from "./report.ts";
import { landsAfter } from "./stop.ts";

export interface FinishDeps {
  readonly repository: Repository;
  readonly run: RunIdentity;
  readonly complete: Complete;
  readonly record: Recorder;
  readonly progress: (progress: Progress) => void;
}

export type LandMode = Policy | "none";

/** Lands what the loop has left, or preserves it. */
export async function finish(deps: FinishDeps, end: LoopEnd, mode: LandMode): Promise<Ending> {
  const { repository, run, record } = deps;
  await record({ type: "stopped", stop: end.stop, tip: end.tip });
  const tip = (await refTip(repository.git, branchRef(run.branch)))?.oid;
  const uncommitted = await uncommittedIn(repository, run);
  const empty = tip === run.base && uncommitted === 0;
  if (empty && end.stop.kind !== "git-error") return cleanUp(deps, run.base);
  if (!landsAfter(end.stop) || mode === "none") return { kind: "preserved", uncommitted };
  return land(deps, end, mode, uncommitted);
}

async function land(
  { repository, run, complete, record, progress }: FinishDeps,
  { gap }: LoopEnd,
  mode: Policy,
  uncommitted: number,
): Promise<Ending> {
  const commits = await commitsBetween(repository.git, run.base, branchRef(run.branch));
  const merges = mode === "squash" || mode === "merge" || (mode === "auto" && commits.length > 1);
  const plain = `Merge ultrathink/${run.slug} into ${run.original}`;
  const message = merges ? messageText(await mergeMessage(complete, run.task, commits, plain, gap)) : undefined;
  const { id, branch: source, original: target, worktree: retire, originalTip: targetWas } = run;
  const request = { id, source, target, policy: mode, targetWas, message, retire };
  const end = await withRepositoryLock(repository.commonDir, () =>
    runLanding({ step: "planning", attempt: 1, request }, performIn({ repository, signal: gap }), async (state) => {
      await record({ type: "landing", state });
      progress({ type: "landing", step: state.step });
    }),
  );
  if (end.step === "landed") return { kind: "landed", outcome: end.outcome, notes: end.notes, message };
  return { kind: "preserved", reason: end.reason, uncommitted };
}

/** Nothing was committed and nothing lies about: worktree and branch go. */
async function cleanUp({ repository, run, record }: FinishDeps, base: Oid): Promise<Ending> {
  return withRepositoryLock(repository.commonDir, async () => {
    try {
      await unlockWorktree(repository.git, run.worktree);
      await removeWorktree(repository.git, run.worktree);
      await deleteRef(repository.git, branchRef(run.branch), base);
      await record({ type: "cleaned" });
      return { kind: "nothing-to-land" };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return { kind: "nothing-to-land", kept: { worktree: run.worktree, why: error.message } };
    }
  });
}

async function uncommittedIn(repository: Repository, run: RunIdentity): Promise<number> {
  if ((await fileKind(run.worktree, ".git" as TreePath)) === "absent") return 0; // gone; the stop reason says so
  return (await status(repository.at(run.worktree), { untracked: "all" })).length;
}
