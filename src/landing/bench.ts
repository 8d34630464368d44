import { rm } from "node:fs/promises";
import { join } from "node:path";
import { commitIndex } from "../git/commit.ts";
import type { Git } from "../git/git.ts";
import { commitsBetween } from "../git/log.ts";
import { abortMerge, abortRebase, mergeCommit, mergeSquash, rebaseOnto } from "../git/merge.ts";
import { type Oid, toWorktreePath, type WorktreePath } from "../git/names.ts";
import { operationIn } from "../git/operation.ts";
import type { Repository } from "../git/repository.ts";
import { commitOid, treeOids, worktreeDirs } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import { switchBranch, switchDetached } from "../git/switch.ts";
import { addWorktree, removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { clearDeadLock } from "./dead-lock.ts";
import { buildRefusal } from "./refusal.ts";
import type { Candidate, Event, Note, Plan, Request } from "./state.ts";

export interface BenchBuild {
  /** What the merge alone gives. */
  readonly tree: Oid;
  readonly message: string;
  /** Those that have a say. */
  readonly hooks: readonly string[];
  readonly notes: readonly Note[];
}

/**
 * Has git itself build the commit, in a worktree off to the side, so that the user's hooks decide as they
 * would for the user's own `git merge`.
 *
 * The run's own worktree serves, where dependencies that hooks need are installed; without one, a temporary
 * worktree beside the repository.
 */
export async function buildOnBench(
  repository: Repository,
  request: Request,
  plan: Plan,
  { tree, message, hooks, notes }: BenchBuild,
): Promise<Event> {
  return onBench(repository, request, plan.build === "rebase" ? plan.sourceTip : plan.targetTip, async (git) => {
    const refusal = await buildHere(git, plan, message).catch((error: unknown) => buildRefusal(error, hooks));
    if (refusal) return { type: "refused", reason: refusal.reason };
    const oid = await commitOid(git, "HEAD");
    if (oid === undefined) throw new TypeError("the bench has no commit after a build");
    const candidate = await verified(git, plan, oid);
    if (candidate === undefined) {
      const output = `the commit that came out, ${oid}, does not have the parents that it should have`;
      return { type: "refused", reason: { kind: "hook-rejected", hook: hooks.join(" or "), output } };
    }
    const [made] = await treeOids(git, [oid]);
    const left = (await status(git)).map(({ path }) => path);
    const dropped: Note[] = left.length === 0 ? [] : [{ kind: "hook-left", hooks, paths: left }];
    const changed: Note[] = made === tree ? [] : [{ kind: "hook-changed-commit", hooks }];
    return { type: "built", candidate, notes: [...notes, ...changed, ...dropped] };
  });
}

async function buildHere(git: Git, { build, mergeBase, sourceTip, targetTip }: Plan, message: string): Promise<void> {
  if (build === "merge") return mergeCommit(git, sourceTip, message);
  if (build === "rebase") return rebaseOnto(git, mergeBase, targetTip);
  await mergeSquash(git, sourceTip);
  await commitIndex(git, message);
}

/** A hook may add to the commit, but not make it something else than was planned. */
async function verified(git: Git, plan: Plan, oid: Oid): Promise<Candidate | undefined> {
  const { build, mergeBase, sourceTip, targetTip } = plan;
  const made = await commitsBetween(git, targetTip, oid);
  if (build === "rebase") {
    const originals = await commitsBetween(git, mergeBase, sourceTip);
    return { oid, rewritten: originals.length === made.length ? pairs(originals, made) : [] };
  }
  const expected = build === "merge" ? `${targetTip} ${sourceTip}` : targetTip;
  return made.at(-1)?.parents.join(" ") === expected ? { oid, rewritten: [] } : undefined;
}

function pairs(originals: readonly { oid: Oid }[], made: readonly { oid: Oid }[]) {
  return originals.flatMap(({ oid: from }, index) => {
    const to = made[index]?.oid;
    return to === undefined ? [] : [{ from, to }];
  });
}

/**
 * Checks `commit` out, detached, in the landing's own worktree for the time of `use`.
 *
 * Repeatable: what a crash left in progress or detached there is put back first.
 */
export async function onBench<T>(
  repository: Repository,
  request: Request,
  commit: Oid,
  use: (git: Git, bench: WorktreePath) => Promise<T>,
): Promise<T> {
  const steady = repository.with({ signal: undefined });
  const bench = request.retire ?? temporaryBench(repository, request);
  await putBenchBack(steady, request);
  if (request.retire === undefined) {
    await addWorktree(steady.git, bench, { kind: "detached", commit }, `ultrathink landing ${request.id}`);
  }
  try {
    if (request.retire !== undefined) await switchDetached(steady.at(bench), commit);
    return await use(repository.at(bench), bench);
  } finally {
    await putBenchBack(steady, request);
  }
}

/**
 * In the git directory, which can be written wherever the repository is, and where no linter or test runner of
 * the user's looks.
 */
function temporaryBench({ commonDir }: Repository, { id }: Request): WorktreePath {
  return toWorktreePath(join(commonDir, "ultrathink", `bench-${id}`));
}

/** Leaves nothing of a build: the run's worktree is on its branch again, a temporary one is gone. */
export async function putBenchBack(repository: Repository, request: Request): Promise<void> {
  const path = request.retire ?? temporaryBench(repository, request);
  const registered = (await worktrees(repository.git)).find((worktree) => worktree.path === path);
  if (request.retire === undefined) {
    if (registered?.locked !== undefined) await unlockWorktree(repository.git, path);
    await rm(path, { recursive: true, force: true }); // everything in it is ours
    if (registered) await removeWorktree(repository.git, path);
    return;
  }
  if (registered === undefined || registered.prunable !== undefined) return;
  const git = repository.at(path);
  await clearDeadLock(git, path);
  const { gitDir } = await worktreeDirs(git);
  const operation = await operationIn(gitDir);
  if (operation === "rebase" || operation === "am or rebase") await abortRebase(git);
  else if (operation === "merge") await abortMerge(git);
  const now = (await worktrees(repository.git)).find((worktree) => worktree.path === path);
  if (now?.branch === undefined) await switchBranch(git, request.source);
}
