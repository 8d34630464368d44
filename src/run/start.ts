import { lstat, readdir } from "node:fs/promises";
import { customAlphabet } from "nanoid";
import { refTips } from "../git/for-each-ref.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { removeJournal } from "../journal/journal.ts";
import { RepositoryBusyError, withRepositoryLock } from "../journal/lock.ts";
import { thisOwner } from "../journal/owner.ts";
import type { Complete, NamingError } from "../naming/ask.ts";
import { chooseSlug } from "../naming/slug.ts";
import { type Created, type CreateRefusal, createWorktree } from "../worktree/create.ts";
import { runLockReason, runWorktreeFolder, runWorktreePath, SCRATCH_PREFIX, scratchBranch } from "../worktree/place.ts";
import type { Ground } from "./preflight.ts";
import { type Recorder, type RunIdentity, recorderFor } from "./record.ts";

/** Valid in reference names and file names, also where case does not count. */
const runId = customAlphabet("0123456789abcdefghijklmnopqrstuvwxyz", 12);

export type Started =
  | {
      readonly kind: "started";
      readonly run: RunIdentity;
      readonly record: Recorder;
      /** The slug comes from the prompt because the naming model failed. */
      readonly namingFailure?: NamingError | undefined;
    }
  /** The user stepped in before anything was created. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "refused"; readonly message: string };

/** A branch or folder of the chosen name may appear between the choice and its use. */
const ATTEMPTS = 3;

/** Names the run and creates its worktree. Whatever is refused, nothing of it stays. */
export async function startRun(
  ground: Ground,
  task: string,
  complete: Complete,
  signal?: AbortSignal,
): Promise<Started> {
  const { repository, mainWorktree, original, originalTip, base } = ground;
  let refusal: CreateRefusal | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const taken = await takenSlugs(ground);
    if (taken === "blocked") {
      return {
        kind: "refused",
        message: `branch ${SCRATCH_PREFIX} is in the way of ${SCRATCH_PREFIX}/…: rename it (git branch -m ${SCRATCH_PREFIX} other-name) and start again.`,
      };
    }
    const choice = await chooseSlug(complete, task, (slug) => taken.has(slug), signal);
    if (signal?.aborted) return { kind: "cancelled" };
    const worktree = runWorktreePath(mainWorktree, choice.slug);
    if ((await lstat(worktree).catch(ifAbsent)) !== undefined) {
      refusal = { kind: "path-exists", path: worktree };
      continue;
    }
    const id = runId();
    const owner = await thisOwner();
    const branch = scratchBranch(choice.slug);
    const run: RunIdentity = { id, slug: choice.slug, branch, worktree, original, originalTip, base, task, owner };
    const record = recorderFor(repository, id);
    await record({ type: "started", run });
    const request = {
      path: worktree,
      checkout: { kind: "new-branch", branch, start: base },
      lockReason: runLockReason(id, choice.slug),
      makeParent: true,
    } as const;
    let created: Created;
    try {
      created = await withRepositoryLock(repository.commonDir, () => createWorktree(repository, request), { signal });
    } catch (error) {
      const waiting = error instanceof RepositoryBusyError || (error as Error).name === "AbortError";
      if (!waiting) throw error; // the journal says what was begun
      await removeJournal(repository.commonDir, id);
      if (signal?.aborted) return { kind: "cancelled" };
      return { kind: "refused", message: `${(error as Error).message}. Nothing was created.` };
    }
    if (created.kind === "created") return { kind: "started", run, record, namingFailure: choice.failure };
    await removeJournal(repository.commonDir, id);
    refusal = created.reason;
    if (refusal.kind !== "branch-exists" && refusal.kind !== "path-exists") break;
  }
  return { kind: "refused", message: refusalSentence(refusal) };
}

/**
 * Slugs that have a branch or something in the folder for worktrees, in any spelling; `blocked` when a branch
 * stands where the folder of branches goes.
 */
async function takenSlugs({ repository, mainWorktree }: Ground): Promise<Set<string> | "blocked"> {
  const folder = `refs/heads/${SCRATCH_PREFIX}`;
  const tips = await refTips(repository.git, [folder]);
  if (tips.some(({ ref }) => ref === folder)) return "blocked";
  const branches = tips.map(({ ref }) => ref.slice(folder.length + 1).split("/", 1)[0] ?? "");
  const names = (await readdir(runWorktreeFolder(mainWorktree)).catch(ifAbsent)) ?? [];
  return new Set([...branches, ...names].map((name) => name.toLowerCase()));
}

function refusalSentence(reason: CreateRefusal | undefined): string {
  const safe = "Nothing was created.";
  switch (reason?.kind) {
    case "branch-exists":
      return `branch ${reason.branch} exists already: say the task in other words. ${safe}`;
    case "branch-clash":
      return `branch ${reason.branch} cannot exist beside ${reason.with}: rename that one. ${safe}`;
    case "path-exists":
      return `${reason.path} is in the way of the run's worktree: move it and start again. ${safe}`;
    case "path-registered":
      return `${reason.path} is registered as a worktree${reason.missing ? " whose directory is missing: git worktree remove it" : ": use or remove it first"}. ${safe}`;
    case "path-not-writable":
      return `the folder for worktrees, ${reason.path}, cannot be written (${reason.why}): make it writable and start again. ${safe}`;
    case "parent-missing":
      return `${reason.path} is not a folder: move what is there and start again. ${safe}`;
    case "inside-worktree":
      return `${reason.path} is inside the checkout ${reason.worktree}, where it would be picked up. ${safe}`;
    case "git-failed":
      return `git could not create the worktree, and all of it was taken back: ${reason.output}`;
    case "changed-by-hook":
      return `a hook changed the new worktree (expected ${reason.expected}, found ${reason.found}); all of it was taken back.`;
    default:
      return `the worktree could not be created (${reason?.kind}). ${safe}`;
  }
}
