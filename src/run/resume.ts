import { refTip } from "../git/for-each-ref.ts";
import { branchRef, type Oid, readablePath, type TreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { fileKind } from "../git/tree-file.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { thisOwner } from "../journal/owner.ts";
import { createWorktree } from "../worktree/create.ts";
import { runLockReason } from "../worktree/place.ts";
import type { KnownRun } from "./known-runs.ts";
import type { LoopStart } from "./loop.ts";
import { checkMessage, conflictMessage, reviewMessage } from "./prompts.ts";
import { type Recorder, type RunIdentity, recorderFor } from "./record.ts";

export type Resumed =
  | { readonly kind: "resumed"; readonly record: Recorder; readonly start: LoopStart }
  /** Nothing was changed. */
  | { readonly kind: "refused"; readonly message: string };

/**
 * Makes a kept run ready to go on in this process: its worktree is there (made anew from the scratch branch
 * when its directory vanished) and the journal says whose it is now.
 */
export async function prepareResume(
  repository: Repository,
  known: KnownRun,
  { reviewInstructions }: { readonly reviewInstructions: string },
): Promise<Resumed> {
  const { run, status } = known;
  if (status !== "preserved" && status !== "interrupted") {
    return refused(`${run.slug} is ${status}, so there is nothing to resume: /ultrathink-runs lists the runs.`);
  }
  return withRepositoryLock(repository.commonDir, async () => {
    const branch = await refTip(repository.git, branchRef(run.branch));
    if (branch === undefined) return refused(`branch ${run.branch} is gone; its last commit was ${known.tip}.`);
    const problem = await makeWorktree(repository, run);
    if (problem !== undefined) return refused(problem);
    const record = recorderFor(repository, run.id);
    await record({ type: "resumed", owner: await thisOwner() });
    const start = {
      iteration: known.iterations + 1,
      tip: known.tip,
      message: firstMessage(known, branch.oid, reviewInstructions),
    };
    return { kind: "resumed", record, start };
  });
}

function refused(message: string): Resumed & { kind: "refused" } {
  return { kind: "refused", message };
}

async function makeWorktree(repository: Repository, run: RunIdentity): Promise<string | undefined> {
  const { git } = repository;
  const registered = (await worktrees(git)).find(({ path }) => path === run.worktree);
  const present = (await fileKind(run.worktree, ".git" as TreePath)) !== "absent";
  if (registered && present) return undefined;
  if (registered) {
    if (registered.locked !== undefined) await unlockWorktree(git, run.worktree);
    await removeWorktree(git, run.worktree);
  }
  const created = await createWorktree(repository, {
    path: run.worktree,
    checkout: { kind: "branch", branch: run.branch },
    lockReason: runLockReason(run.id, run.slug),
    makeParent: true,
  });
  if (created.kind === "created") return undefined;
  return `the worktree ${run.worktree} could not be made again (${created.reason.kind}): see git worktree list.`;
}

/** What the agent is asked for first: what kept the run from landing, else another look at what there is. */
function firstMessage({ run, landing, iterations }: KnownRun, branchTip: Oid, instructions: string): string {
  const reason = landing?.step === "stopped" ? landing.reason : undefined;
  if (reason?.kind === "conflicted") return conflictMessage(run.original, run.branch, reason.paths.map(readablePath));
  if (reason?.kind === "check-failed") return checkMessage(reason.command, reason.output);
  return iterations === 0 && branchTip === run.base ? run.task : reviewMessage(run.task, run.base, instructions);
}
