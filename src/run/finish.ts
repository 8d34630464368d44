import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { commitsBetween } from "../git/log.ts";
import { branchRef, type Oid, type TreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { status } from "../git/status.ts";
import { fileKind } from "../git/tree-file.ts";
import { createRef, deleteRef } from "../git/update-ref.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { backupRefs } from "../landing/backup-refs.ts";
import { performIn } from "../landing/perform.ts";
import { runLanding } from "../landing/run.ts";
import type { Check, Policy } from "../landing/state.ts";
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
  if (empty && !keeps) return { ...(await cleanUp(deps, run.base)), ignored };
  const lands = landsAfter(end.stop);
  if (!lands || mode === "none") {
    return {
      kind: "preserved",
      asAsked: lands,
      uncommitted,
      worktreeGone: await forgetMissingWorktree(repository, run),
    };
  }
  const ending = await land(deps, end, mode, check, uncommitted);
  return ending.kind === "landed" ? { ...ending, ignored } : ending;
}

/** The scratch branch as it is; one that was deleted is put back where it was recorded last. */
async function branchTip({ repository: { git }, run }: FinishDeps, { tip }: LoopEnd): Promise<Oid> {
  const ref = branchRef(run.branch);
  const now = await refTip(git, ref);
  if (now !== undefined) return now.oid;
  await createRef(git, ref, tip, "ultrathink: the branch was deleted during the run");
  return tip;
}

async function land(
  { repository, run, complete, record, progress }: FinishDeps,
  { gap }: LoopEnd,
  mode: Policy,
  check: Check | undefined,
  uncommitted: number,
): Promise<Ending> {
  const commits = await commitsBetween(repository.git, run.base, branchRef(run.branch));
  const merges = mode === "squash" || mode === "merge" || (mode === "auto" && commits.length > 1);
  const plain = `Merge ultrathink/${run.slug} into ${run.original}`;
  const message = merges ? messageText(await mergeMessage(complete, run.task, commits, plain, gap)) : undefined;
  const { id, branch: source, original: target, worktree: retire, originalTip: targetWas } = run;
  const request = { id, source, target, policy: mode, targetWas, message, retire, check };
  const onOutput = (text: string) => progress({ type: "check-output", text });
  const end = await withRepositoryLock(repository.commonDir, () =>
    runLanding(
      { step: "planning", attempt: 1, request },
      performIn({ repository, signal: gap, onOutput }),
      async (state) => {
        await record({ type: "landing", state });
        progress({ type: "landing", step: state.step });
      },
    ),
  );
  if (end.step === "landed") await forgetTip(repository, run);
  if (end.step === "landed") return { kind: "landed", ignored: [], outcome: end.outcome, notes: end.notes, message };
  return { kind: "preserved", asAsked: false, reason: end.reason, uncommitted, worktreeGone: false };
}

/** Nothing was committed and nothing lies about: worktree and branch go. */
async function cleanUp(
  { repository, run, record }: FinishDeps,
  base: Oid,
): Promise<Ending & { kind: "nothing-to-land" }> {
  return withRepositoryLock(repository.commonDir, async () => {
    try {
      await unlockWorktree(repository.git, run.worktree);
      await removeWorktree(repository.git, run.worktree);
      await deleteRef(repository.git, branchRef(run.branch), base);
      await record({ type: "cleaned" });
      return { kind: "nothing-to-land", ignored: [] };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return { kind: "nothing-to-land", ignored: [], kept: { worktree: run.worktree, why: error.message } };
    }
  });
}

/** The commits are on the target now, and the landing keeps both tips. */
async function forgetTip({ git }: Repository, { id }: RunIdentity): Promise<void> {
  const { tip } = backupRefs(id);
  const now = await refTip(git, tip);
  if (now) await deleteRef(git, tip, now.oid);
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
  /** What git ignores: it goes with the worktree. A directory that is ignored whole counts once. */
  readonly ignored: readonly TreePath[];
}

async function leftIn(repository: Repository, run: RunIdentity): Promise<Left> {
  if ((await fileKind(run.worktree, ".git" as TreePath)) === "absent") return { uncommitted: 0, ignored: [] };
  const entries = await status(repository.at(run.worktree), { untracked: "all", ignored: true });
  const ignored = entries.filter(({ kind }) => kind === "ignored").map(({ path }) => path);
  return { uncommitted: entries.length - ignored.length, ignored };
}
