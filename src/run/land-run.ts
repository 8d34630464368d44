import { refTip } from "../git/for-each-ref.ts";
import { commitsBetween } from "../git/log.ts";
import { branchRef } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { deleteRef } from "../git/update-ref.ts";
import { withRepositoryLock } from "../journal/lock.ts";
import { backupRefs } from "../landing/backup-refs.ts";
import { performIn } from "../landing/perform.ts";
import { runLanding } from "../landing/run.ts";
import type { Check, End, Policy } from "../landing/state.ts";
import type { Complete } from "../naming/ask.ts";
import { mergeMessage, messageText } from "../naming/message.ts";
import type { Progress } from "./progress.ts";
import type { Recorder, RunIdentity } from "./record.ts";

export interface LandDeps {
  readonly repository: Repository;
  readonly run: RunIdentity;
  readonly complete: Complete;
  readonly record: Recorder;
  readonly progress: (progress: Progress) => void;
}

export interface LandOptions {
  readonly policy: Policy;
  readonly check?: Check | undefined;
  /** Ends a landing that has moved nothing yet. */
  readonly signal?: AbortSignal | undefined;
}

export interface LandEnd {
  readonly end: End;
  /** Of the merge commit, when one was made. */
  readonly message?: string | undefined;
}

/** Other landings, their checks included, go first for so long. */
const WAIT_MS = 4 * 60 * 60_000;

/** Lands a run's scratch branch on its original branch; its journal knows how far it has come. */
export async function landRun(
  { repository, run, complete, record, progress }: LandDeps,
  { policy, check, signal }: LandOptions,
): Promise<LandEnd> {
  const branch = branchRef(run.branch);
  const commits = (await refTip(repository.git, branch))
    ? await commitsBetween(repository.git, run.base, branch, { firstParent: true })
    : []; // the landing says that the branch is missing
  const merges = policy === "squash" || policy === "merge" || (policy === "auto" && commits.length > 1);
  const plain = `Merge ultrathink/${run.slug} into ${run.original}`;
  const message = merges ? messageText(await mergeMessage(complete, run.task, commits, plain, signal)) : undefined;
  const { id, branch: source, original: target, worktree: retire, originalTip: targetWas, born } = run;
  const request = { id, source, target, policy, targetWas, message, retire, born, check };
  const onOutput = (text: string) => progress({ type: "check-output", text });
  const start = { step: "planning", attempt: 1, request } as const;
  const end = await withRepositoryLock(
    repository.commonDir,
    () =>
      runLanding(start, performIn({ repository, signal, onOutput }), async (state) => {
        await record({ type: "landing", state });
        progress({ type: "landing", step: state.step });
      }),
    { waitMs: WAIT_MS, signal, onWait: () => progress({ type: "waiting" }) },
  );
  if (end.step === "landed") await forgetTip(repository, run);
  return { end, message };
}

/** The commits are on the target now, and the landing keeps both tips. */
async function forgetTip({ git }: Repository, { id }: RunIdentity): Promise<void> {
  const { tip } = backupRefs(id);
  const now = await refTip(git, tip);
  if (now) await deleteRef(git, tip, now.oid);
}
