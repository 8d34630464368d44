import { rm } from "node:fs/promises";
import { refTip } from "../git/for-each-ref.ts";
import { branchRef, type Oid, readablePath, type TreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { fileKind } from "../git/tree-file.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { thisOwner } from "../journal/owner.ts";
import { createWorktree, type NewWorktree } from "../worktree/create.ts";
import { runLockReason } from "../worktree/place.ts";
import type { Equipment, Wishes } from "../worktree/prepare.ts";
import { equip, type StartDeps } from "./equip.ts";
import type { KnownRun } from "./known-runs.ts";
import type { LoopStart } from "./loop.ts";
import { checkMessage, conflictMessage, reviewMessage } from "./prompts.ts";
import { type Recorder, type RunIdentity, recorderFor } from "./record.ts";
import type { Cancelled } from "./start.ts";
import { prepareSentence } from "./start-words.ts";
import type { Interruption, Stop } from "./stop.ts";

export type Resumed =
  | {
      readonly kind: "resumed";
      readonly run: RunIdentity;
      readonly record: Recorder;
      readonly start: LoopStart;
      /** Of a worktree that was made anew. */
      readonly equipment?: Equipment | undefined;
    }
  | Cancelled
  /** The run is kept as it was. */
  | { readonly kind: "refused"; readonly message: string };

export interface ResumeOptions {
  readonly reviewInstructions: string;
  readonly wishes: Wishes;
}

/**
 * Makes a kept run ready to go on in this process: its worktree is there (made anew from the scratch branch
 * when its directory vanished) and the journal says whose it is now.
 */
export async function prepareResume(deps: StartDeps, known: KnownRun, options: ResumeOptions): Promise<Resumed> {
  const { repository } = deps.ground;
  const { run, status, tip } = known;
  if (status !== "preserved" && status !== "interrupted") {
    return refused(`${run.slug} is ${status}, so there is nothing to resume: /ultrathink-runs lists the runs.`);
  }
  const record = recorderFor(repository, run.id);
  const taken = await withRepositoryLock(repository.commonDir, () => takeOver(repository, known, record));
  if ("kind" in taken) return taken;
  const { created, branchTip } = taken;
  const message = firstMessage(known, branchTip, options.reviewInstructions);
  const resumed = { kind: "resumed", run, record, start: { iteration: known.iterations + 1, tip, message } } as const;
  if (created === undefined) return resumed;
  const keep = (stop: Stop) => record({ type: "stopped", stop, tip });
  try {
    const end = await equip(deps, created, options.wishes);
    switch (end.kind) {
      case "equipped": {
        const { born, equipment } = end;
        await record({ type: "prepared", born });
        return { ...resumed, run: { ...run, born }, equipment };
      }
      case "cancelled":
        await keep(deps.signal?.reason as Interruption);
        return { kind: "cancelled", tookBack: true };
      case "failed": {
        const sentence = prepareSentence(end.problem, ` Branch ${run.branch} is kept, and the run with it.`);
        await keep({ kind: "git-error", message: sentence });
        return refused(sentence);
      }
    }
  } catch (error) {
    await keep({ kind: "git-error", message: (error as Error).message });
    throw error;
  }
}

function refused(message: string): Resumed & { kind: "refused" } {
  return { kind: "refused", message };
}

interface TakenOver {
  readonly branchTip: Oid;
  /** `undefined` when the worktree was there. */
  readonly created: NewWorktree | undefined;
}

async function takeOver(
  repository: Repository,
  known: KnownRun,
  record: Recorder,
): Promise<TakenOver | (Resumed & { kind: "refused" })> {
  const { run, tip } = known;
  const branch = await refTip(repository.git, branchRef(run.branch));
  // A process that died at once had not even made it.
  if (branch === undefined && tip !== run.base) {
    return refused(`branch ${run.branch} is gone; its last commit was ${tip}.`);
  }
  const created = await makeWorktree(repository, known, branch?.oid);
  if (typeof created === "string") return refused(created);
  await record({ type: "resumed", owner: await thisOwner() });
  return { branchTip: branch?.oid ?? run.base, created };
}

/** @returns what is the matter, when it cannot be made. */
async function makeWorktree(
  repository: Repository,
  { run, iterations }: KnownRun,
  branchTip: Oid | undefined,
): Promise<NewWorktree | string | undefined> {
  const { git } = repository;
  const registered = (await worktrees(git)).find(({ path }) => path === run.worktree);
  const present = (await fileKind(run.worktree, ".git" as TreePath)) !== "absent";
  // The agent was never let in, so nothing in it is anybody's work; it may be checked out in part only.
  const halfMade = run.born === undefined && iterations === 0 && branchTip === run.base;
  if (registered && present && !halfMade) return undefined;
  if (registered) {
    if (registered.locked !== undefined) await unlockWorktree(git, run.worktree);
    if (halfMade) await rm(run.worktree, { recursive: true, force: true });
    await removeWorktree(git, run.worktree);
  }
  const { branch } = run;
  const created = await createWorktree(repository, {
    path: run.worktree,
    checkout: branchTip === undefined ? { kind: "new-branch", branch, start: run.base } : { kind: "branch", branch },
    lockReason: runLockReason(run.id, run.slug),
    makeParent: true,
  });
  if (created.kind === "created") return created;
  return `the worktree ${run.worktree} could not be made again (${created.reason.kind}): see git worktree list.`;
}

/** What the agent is asked for first: what kept the run from landing, else another look at what there is. */
function firstMessage({ run, landing, iterations }: KnownRun, branchTip: Oid, instructions: string): string {
  const reason = landing?.step === "stopped" ? landing.reason : undefined;
  if (reason?.kind === "conflicted") return conflictMessage(run.original, run.branch, reason.paths.map(readablePath));
  if (reason?.kind === "check-failed") return checkMessage(reason.command, reason.output);
  return iterations === 0 && branchTip === run.base ? run.task : reviewMessage(run.task, run.base, instructions);
}
