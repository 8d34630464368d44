import { isTrue, settingsMatching } from "../git/config-get.ts";
import { refTips } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { isAncestor, mergeBases } from "../git/merge-base.ts";
import { type BranchName, branchRef, type Oid, type RefName, refBranch } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { commitCounts } from "../git/rev-list.ts";
import { isShallow } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import { signatureIsGood } from "../git/verify-commit.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";
import { owningRun } from "../worktree/place.ts";
import { holderOf } from "./holder.ts";
import type { Build, Event, Note, Policy, Request, StopReason } from "./state.ts";

/** Reads the tips, the holder and what separates them. Changes nothing. */
export async function plan(repository: Repository, request: Request, attempt: number): Promise<Event> {
  const { git } = repository;
  const source = branchRef(request.source);
  const target = branchRef(request.target);
  const tips = await refTips(git, [source, target]);
  const sourceTip = tips.find(({ ref }) => ref === source);
  const targetTip = tips.find(({ ref }) => ref === target);
  if (sourceTip === undefined) return refused({ kind: "branch-missing", branch: request.source });
  if (targetTip === undefined) {
    return refused({ kind: "branch-missing", branch: request.target, renamedTo: await branchesAt(git, request) });
  }
  if (targetTip.symbolicTo !== undefined) {
    return refused({ kind: "branch-symbolic", branch: request.target, to: targetTip.symbolicTo });
  }

  const all = await worktrees(git);
  const owner = runOwning(all, request);
  if (owner) return refused(owner);
  const holder = await holderOf(repository, target, all);
  if (holder.kind === "refused") return refused(holder.reason);

  const bases = await mergeBases(git, sourceTip.oid, targetTip.oid);
  const [mergeBase] = bases;
  if (mergeBase === undefined) return refused({ kind: "unrelated-histories", shallow: await isShallow(git) });
  if (bases.includes(sourceTip.oid)) {
    const outcome = { sourceTip: sourceTip.oid, targetTip: targetTip.oid, equalTree: false };
    return { type: "already-integrated", outcome: { kind: "already-integrated", ...outcome } };
  }
  if (request.targetWas !== undefined && !(await contains(git, targetTip.oid, request.targetWas, bases))) {
    return refused({ kind: "target-rewritten", was: request.targetWas, to: targetTip.oid });
  }
  const settings = await settingsMatching(git, SETTINGS);
  if (isTrue(settings, "merge.verifysignatures") && !(await signatureIsGood(git, sourceTip.oid))) {
    return refused({ kind: "signature-required", commit: sourceTip.oid });
  }
  const canFastForward = bases.includes(targetTip.oid);
  const build = await chooseBuild(git, request.policy, canFastForward, sourceTip.oid, targetTip.oid);
  const planned = {
    sourceTip: sourceTip.oid,
    targetTip: targetTip.oid,
    mergeBase,
    build,
    ...(holder.kind === "held" ? { holder: holder.worktree.path, holderDirs: holder.dirs } : {}),
    sign: isTrue(settings, "commit.gpgsign"),
    drivers: settings.flatMap(([key]) => /^merge\.(.+)\.driver$/.exec(key)?.[1] ?? []),
    attempt,
    notes: await sourceNotes(repository, request, source, all),
  };
  return { type: "planned", plan: planned };
}

/** A worktree with a branch of the request that a run, other than the one landing, holds. */
function runOwning(all: readonly Worktree[], { source, target, retire }: Request): StopReason | undefined {
  for (const branch of [source, target]) {
    const held = all.find((worktree) => worktree.branch === branchRef(branch) && worktree.path !== retire);
    const run = held && owningRun(held);
    if (run !== undefined) return { kind: "owned-by-run", run, branch };
  }
  return undefined;
}

/** Branches that are where the target was: it may have been renamed. */
async function branchesAt(git: Git, { targetWas, source }: Request): Promise<BranchName[]> {
  if (targetWas === undefined) return [];
  const there = (await refTips(git, ["refs/heads/"])).filter(({ oid }) => oid === targetWas);
  return there.flatMap(({ ref }) => refBranch(ref) ?? []).filter((branch) => branch !== source);
}

async function contains(git: Git, tip: Oid, commit: Oid, bases: readonly Oid[]): Promise<boolean> {
  return bases.includes(commit) || (await isAncestor(git, commit, tip));
}

/** Work in a worktree of the source that is in no commit yet does not land. */
async function sourceNotes(
  repository: Repository,
  { retire }: Request,
  source: RefName,
  all: readonly Worktree[],
): Promise<Note[]> {
  const held = all.find(({ branch, path, prunable }) => branch === source && path !== retire && prunable === undefined);
  if (held === undefined) return [];
  const entries = (await status(repository.at(held.path))).length;
  return entries === 0 ? [] : [{ kind: "source-uncommitted", worktree: held.path, entries }];
}

/** The user's configuration that a landing obeys; everything else is overridden by flags. */
const SETTINGS = "^(commit\\.gpgsign|merge\\.verifysignatures|merge\\..*\\.driver)$";

async function chooseBuild(
  git: Git,
  policy: Policy,
  canFastForward: boolean,
  source: Oid,
  target: Oid,
): Promise<Build> {
  if (policy === "merge" || policy === "squash") return policy;
  if (policy === "integrate") return canFastForward ? "fast-forward" : "merge";
  const { commits, merges } = await commitCounts(git, target, source);
  if (policy === "auto" && commits > 1) return "merge";
  if (canFastForward) return "fast-forward";
  return merges > 0 ? "merge" : "rebase"; // a rebase would flatten merges
}

function refused(reason: StopReason): Event {
  return { type: "refused", reason };
}
