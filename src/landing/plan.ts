import { booleanSettings } from "../git/config-get.ts";
import { refTips } from "../git/for-each-ref.ts";
import { mergeBases } from "../git/merge-base.ts";
import { branchRef, type Oid } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { commitCounts } from "../git/rev-list.ts";
import { isShallow } from "../git/rev-parse.ts";
import { signatureIsGood } from "../git/verify-commit.ts";
import { holderOf } from "./holder.ts";
import type { Build, Event, Policy, Request, StopReason } from "./state.ts";

/** Reads the tips, the holder and what separates them. Changes nothing. */
export async function plan(repository: Repository, request: Request, attempt: number): Promise<Event> {
  const { git } = repository;
  const source = branchRef(request.source);
  const target = branchRef(request.target);
  const tips = await refTips(git, [source, target]);
  const sourceTip = tips.find(({ ref }) => ref === source);
  const targetTip = tips.find(({ ref }) => ref === target);
  if (sourceTip === undefined) return refused({ kind: "branch-missing", branch: request.source });
  if (targetTip === undefined) return refused({ kind: "branch-missing", branch: request.target });
  if (targetTip.symbolicTo !== undefined) {
    return refused({ kind: "branch-symbolic", branch: request.target, to: targetTip.symbolicTo });
  }

  const holder = await holderOf(repository, target);
  if (holder.kind === "refused") return refused(holder.reason);

  const bases = await mergeBases(git, sourceTip.oid, targetTip.oid);
  const [mergeBase] = bases;
  if (mergeBase === undefined) return refused({ kind: "unrelated-histories", shallow: await isShallow(git) });
  if (bases.includes(sourceTip.oid)) {
    const outcome = { sourceTip: sourceTip.oid, targetTip: targetTip.oid, equalTree: false };
    return { type: "already-integrated", outcome: { kind: "already-integrated", ...outcome } };
  }
  const settings = await booleanSettings(git, ["merge.verifysignatures"]);
  if (settings.get("merge.verifysignatures") && !(await signatureIsGood(git, sourceTip.oid))) {
    return refused({ kind: "signature-required", commit: sourceTip.oid });
  }

  const canFastForward = bases.includes(targetTip.oid);
  const { build, commits } = await chooseBuild(
    repository,
    request.policy,
    canFastForward,
    sourceTip.oid,
    targetTip.oid,
  );
  const worktree = holder.kind === "held" ? holder.worktree.path : undefined;
  const tipOids = { sourceTip: sourceTip.oid, targetTip: targetTip.oid, mergeBase };
  return { type: "planned", plan: { ...tipOids, build, commits, holder: worktree, attempt } };
}

async function chooseBuild(
  { git }: Repository,
  policy: Policy,
  canFastForward: boolean,
  source: Oid,
  target: Oid,
): Promise<{ build: Build; commits: number }> {
  const { commits, merges } = await commitCounts(git, target, source);
  const rebased: Build = canFastForward ? "fast-forward" : merges > 0 ? "merge" : "rebase"; // a rebase would flatten merges
  switch (policy) {
    case "integrate":
      return { build: canFastForward ? "fast-forward" : "merge", commits };
    case "auto":
      return { build: commits === 1 ? rebased : "merge", commits };
    case "rebase":
      return { build: rebased, commits };
    case "merge":
    case "squash":
      return { build: policy, commits };
  }
}

function refused(reason: StopReason): Event {
  return { type: "refused", reason };
}
