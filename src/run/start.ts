import { readdir } from "node:fs/promises";
import { customAlphabet } from "nanoid";
import { refTips } from "../git/for-each-ref.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { worktrees } from "../git/worktree-list.ts";
import { removeJournal } from "../journal/journal.ts";
import { RepositoryBusyError, withRepositoryLock } from "../journal/lock.ts";
import { thisOwner } from "../journal/owner.ts";
import type { NamingError } from "../naming/ask.ts";
import { chooseSlug, freeSlug } from "../naming/slug.ts";
import { type Created, type CreateRefusal, createWorktree, type NewWorktree } from "../worktree/create.ts";
import { canonicalPath } from "../worktree/destination.ts";
import {
  runLockReason,
  runWorktreeFolder,
  runWorktreeName,
  runWorktreePath,
  SCRATCH_PREFIX,
  scratchBranch,
} from "../worktree/place.ts";
import type { Equipment, Wishes } from "../worktree/prepare.ts";
import { equip, type StartDeps } from "./equip.ts";
import type { Ground } from "./preflight.ts";
import { type Recorder, type RunIdentity, recorderFor } from "./record.ts";
import { prepareSentence, refusalSentence } from "./start-words.ts";

/** Valid in reference names and file names, also where case does not count. */
const runId = customAlphabet("0123456789abcdefghijklmnopqrstuvwxyz", 12);

/** The user stepped in before the first iteration; nothing of it stays. */
export interface Cancelled {
  readonly kind: "cancelled";
  /** The worktree was there already. */
  readonly tookBack: boolean;
}

export type Started =
  | {
      readonly kind: "started";
      readonly run: RunIdentity;
      readonly record: Recorder;
      readonly equipment: Equipment;
      /** The slug comes from the prompt because the naming model failed. */
      readonly namingFailure?: NamingError | undefined;
    }
  | Cancelled
  | { readonly kind: "refused"; readonly message: string };

/** A branch or folder of the chosen name may appear between the choice and its use: as often as others start runs. */
const ATTEMPTS = 50;
const TAKEN_MEANWHILE: ReadonlySet<CreateRefusal["kind"]> = new Set([
  "branch-exists",
  "path-exists",
  "path-registered",
]);

/** Names the run, creates its worktree and makes it ready. Whatever is refused, nothing of it stays. */
export async function startRun(deps: StartDeps, task: string, wishes: Wishes): Promise<Started> {
  const { ground, complete, progress, signal } = deps;
  progress({ type: "preparing", what: "name" });
  let isTaken = await takenSlugs(ground);
  if (isTaken === "blocked") return blocked();
  const { slug: wanted, failure: namingFailure } = await chooseSlug(complete, task, isTaken, signal);
  progress({ type: "preparing", what: "worktree" });
  let refusal: CreateRefusal | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (signal?.aborted) return { kind: "cancelled", tookBack: false };
    const begun = await begin(deps, task, freeSlug(wanted, isTaken));
    if (begun.kind === "begun") {
      const ready = await makeReady(deps, begun.run, begun.created, wishes);
      return ready.kind === "started" ? { ...ready, namingFailure } : ready;
    }
    if (begun.kind !== "not-created") return begun;
    refusal = begun.reason;
    if (!TAKEN_MEANWHILE.has(refusal.kind)) break;
    isTaken = await takenSlugs(ground);
    if (isTaken === "blocked") return blocked();
  }
  return { kind: "refused", message: refusalSentence(refusal) };
}

function blocked(): Started & { kind: "refused" } {
  return {
    kind: "refused",
    message: `branch ${SCRATCH_PREFIX} is in the way of ${SCRATCH_PREFIX}/…: rename it (git branch -m ${SCRATCH_PREFIX} other-name) and start again.`,
  };
}

type Begun =
  | { readonly kind: "begun"; readonly run: RunIdentity; readonly created: NewWorktree }
  | { readonly kind: "not-created"; readonly reason: CreateRefusal }
  | Exclude<Started, { kind: "started" }>;

/** The run's first record, then its branch and worktree. */
async function begin({ ground, signal }: StartDeps, task: string, slug: string): Promise<Begun> {
  const { repository, original, originalTip, base } = ground;
  const id = runId();
  const branch = scratchBranch(slug);
  const worktree = await canonicalPath(runWorktreePath(ground, slug));
  const owner = await thisOwner();
  const run: RunIdentity = { id, slug, branch, worktree, original, originalTip, base, task, owner };
  await recorderFor(repository, id)({ type: "started", run });
  const request = {
    path: worktree,
    checkout: { kind: "new-branch", branch, start: base },
    lockReason: runLockReason(id, slug),
    makeParent: true,
  } as const;
  let created: Created;
  try {
    created = await withRepositoryLock(repository.commonDir, () => createWorktree(repository, request), { signal });
  } catch (error) {
    const waiting = error instanceof RepositoryBusyError || (error as Error).name === "AbortError";
    if (!waiting) throw error; // the journal says what was begun
    await removeJournal(repository.commonDir, id);
    if (signal?.aborted) return { kind: "cancelled", tookBack: false };
    return { kind: "refused", message: `${(error as Error).message}. Nothing was created.` };
  }
  if (created.kind === "created") return { kind: "begun", run, created };
  await removeJournal(repository.commonDir, id);
  return { kind: "not-created", reason: created.reason };
}

async function makeReady(deps: StartDeps, run: RunIdentity, created: NewWorktree, wishes: Wishes): Promise<Started> {
  const { repository } = deps.ground;
  const record = recorderFor(repository, run.id);
  try {
    const end = await equip(deps, created, wishes);
    if (end.kind === "equipped") {
      const { born, equipment } = end;
      await record({ type: "prepared", born });
      return { kind: "started", run: { ...run, born }, record, equipment };
    }
    await removeJournal(repository.commonDir, run.id);
    if (end.kind === "cancelled") return { kind: "cancelled", tookBack: true };
    const { problem, keptBranch } = end;
    const kept = keptBranch === undefined ? "" : ` Branch ${keptBranch} is kept: something was committed on it.`;
    return { kind: "refused", message: prepareSentence(problem, kept) };
  } catch (error) {
    // What could not be taken back is a kept run like any other: it can be looked at and discarded.
    await record({ type: "stopped", stop: { kind: "git-error", message: (error as Error).message }, tip: run.base });
    throw error;
  }
}

/**
 * Tells whether a slug has a branch, or something in the folder for worktrees, in any spelling; `blocked` when a
 * branch stands where the folder of branches goes.
 */
async function takenSlugs(ground: Ground): Promise<((slug: string) => boolean) | "blocked"> {
  const { git } = ground.repository;
  const folder = `refs/heads/${SCRATCH_PREFIX}`;
  const tips = await refTips(git, [folder]);
  if (tips.some(({ ref }) => ref === folder)) return "blocked";
  const lower = (names: readonly string[]) => new Set(names.map((name) => name.toLowerCase()));
  const branches = lower(tips.map(({ ref }) => ref.slice(folder.length + 1).split("/", 1)[0] ?? ""));
  const names = lower((await readdir(runWorktreeFolder(ground)).catch(ifAbsent)) ?? []);
  const paths = lower((await worktrees(git)).map(({ path }) => path)); // registered, whether there or not
  return (slug) =>
    branches.has(slug) ||
    names.has(runWorktreeName(ground, slug).toLowerCase()) ||
    paths.has(runWorktreePath(ground, slug).toLowerCase());
}
