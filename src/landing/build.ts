import { commitTree } from "../git/commit-tree.ts";
import type { Git } from "../git/git.ts";
import { hooksPresent } from "../git/hooks.ts";
import { type Commit, commitsBetween } from "../git/log.ts";
import { type MergeTree, mergeTree } from "../git/merge-tree.ts";
import type { BranchName, Oid } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { treeOids, worktreeDirs } from "../git/rev-parse.ts";
import { buildOnBench } from "./bench.ts";
import { driverPaths } from "./drivers.ts";
import { buildRefusal } from "./refusal.ts";
import type { Candidate, Event, Note, Plan, Request } from "./state.ts";

/** Hooks that git runs, and obeys, when it builds such a commit. */
const HOOKS = {
  "fast-forward": [],
  merge: ["pre-merge-commit", "prepare-commit-msg", "commit-msg"],
  squash: ["pre-commit", "prepare-commit-msg", "commit-msg"],
  rebase: ["pre-rebase", "prepare-commit-msg", "post-rewrite"],
  undo: [],
} as const;

type Built =
  | { readonly kind: "candidate"; readonly candidate: Candidate; readonly tree: Oid }
  | Extract<MergeTree, { kind: "conflicted" }>
  | { readonly kind: "nothing-left" };

/**
 * Builds the commit that the target would move to; no branch moves and no worktree of the user's is touched.
 *
 * First in the object database alone, so that a conflict costs no checkout. When a hook has a say in such a
 * commit, git builds it once more in a worktree off to the side, with the hook in effect.
 */
export async function build(repository: Repository, request: Request, plan: Plan): Promise<Event> {
  const { sourceTip, targetTip } = plan;
  if (plan.build === "fast-forward")
    return { type: "built", candidate: { oid: sourceTip, rewritten: [] }, notes: plan.notes };
  const git = repository.at(request.retire ?? plan.holder ?? repository.topLevel ?? repository.commonDir);

  const built = await buildInMemory(git, request, plan).catch(buildRefusal);
  switch (built.kind) {
    case "refused":
      return { type: "refused", reason: built.reason };
    case "conflicted": {
      const byDriver = await driverPaths(git, plan);
      return { type: "refused", reason: { ...built, byDriver } };
    }
    case "nothing-left": {
      const outcome = { kind: "already-integrated", sourceTip, targetTip, equalTree: true } as const;
      return { type: "already-integrated", outcome };
    }
  }
  const decided = (await driverPaths(git, plan)).map((each) => ({ kind: "driver-decided", ...each }) as const);
  const notes: readonly Note[] = [...plan.notes, ...decided];
  const { hooks: folder } = await worktreeDirs(git);
  const hooks = await hooksPresent(folder, HOOKS[plan.build]);
  if (hooks.length === 0) return { type: "built", candidate: built.candidate, notes };
  const bench = {
    tree: built.tree,
    message: commitMessage(request),
    hooks,
    notes: [...notes, { kind: "hooks-ran", hooks, folder }],
  } as const;
  return buildOnBench(repository, request, plan, bench);
}

async function buildInMemory(git: Git, request: Request, plan: Plan): Promise<Built> {
  const { sourceTip, targetTip } = plan;
  const merged = await mergeTree(git, targetTip, sourceTip);
  if (merged.kind === "conflicted" && plan.build !== "rebase") return merged;
  const [targetTree] = await treeOids(git, [targetTip]);
  if (merged.kind === "clean" && merged.tree === targetTree) return { kind: "nothing-left" };

  if (plan.build === "rebase" || merged.kind === "conflicted") return replay(git, plan);
  const { tree } = merged;
  const parents = plan.build === "merge" ? [targetTip, sourceTip] : [targetTip];
  const oid = await commitTree(git, { tree, parents, message: commitMessage(request), sign: plan.sign });
  return { kind: "candidate", candidate: { oid, rewritten: [] }, tree };
}

/**
 * Rebases in the object database, one commit after the other.
 *
 * `merge-tree --merge-base` needs git 2.40. The same three-way merge works on 2.38 by way of a commit that
 * has the new parent's tree and the old parent as its parent: its merge base with the commit is the old parent.
 */
async function replay(git: Git, { mergeBase, sourceTip, targetTip, sign }: Plan): Promise<Built> {
  const rewritten: { from: Oid; to: Oid }[] = [];
  let onto = targetTip;
  let [ontoTree] = await treeOids(git, [targetTip]);
  for (const commit of await commitsBetween(git, mergeBase, sourceTip)) {
    const [parent] = commit.parents;
    if (parent === undefined || ontoTree === undefined) throw new TypeError(`cannot replay root commit ${commit.oid}`);
    const stand = await commitTree(git, { tree: ontoTree, parents: [parent], message: "stand-in" });
    const merged = await mergeTree(git, stand, commit.oid);
    if (merged.kind === "conflicted") return merged;
    if (merged.tree === ontoTree) continue; // the target has this change already
    onto = await recommit(git, commit, merged.tree, onto, sign);
    ontoTree = merged.tree;
    rewritten.push({ from: commit.oid, to: onto });
  }
  if (rewritten.length === 0 || ontoTree === undefined) return { kind: "nothing-left" };
  return { kind: "candidate", candidate: { oid: onto, rewritten }, tree: ontoTree };
}

async function recommit(git: Git, { author, message }: Commit, tree: Oid, parent: Oid, sign: boolean): Promise<Oid> {
  return commitTree(git, { tree, parents: [parent], message, author, sign });
}

/** What `git merge` would write, unless the request brings words of its own. */
export function commitMessage({ message, policy, source, target }: Request): string {
  if (message !== undefined) return message;
  if (policy === "squash") return `Squashed branch '${source}'\n`;
  return `Merge branch '${source}'${intoSuffix(target)}\n`;
}

/** git leaves the name of the default branch out; see `merge.suppressDest` in git-config(1). */
function intoSuffix(target: BranchName): string {
  return target === "main" || target === "master" ? "" : ` into ${target}`;
}
