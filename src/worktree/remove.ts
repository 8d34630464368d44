import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isReachable, refTips } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { GitError } from "../git/git-error.ts";
import { hiddenEntries } from "../git/ls-files.ts";
import type { WorktreePath } from "../git/names.ts";
import { type BranchName, type Oid, refBranch, type TreePath, treePath } from "../git/names.ts";
import { type Operation, operationIn } from "../git/operation.ts";
import type { Repository } from "../git/repository.ts";
import { repositoryPlace } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import { fileKind, ifAbsent } from "../git/tree-file.ts";
import { type Worktree, worktrees } from "../git/worktree-list.ts";
import { changesIn } from "./changes.ts";
import { deleteWorktree } from "./delete.ts";
import { ignoredInSubmodules } from "./submodules.ts";

export interface RemoveRequest {
  /** Exactly as git lists it. */
  readonly path: string;
  readonly deleteIgnored?: boolean;
}

export type RemoveRefusal =
  | { readonly kind: "not-a-worktree"; readonly path: string }
  | { readonly kind: "main-worktree"; readonly path: string }
  | { readonly kind: "current-worktree"; readonly path: string }
  | { readonly kind: "locked"; readonly path: string; readonly reason: string }
  | { readonly kind: "other-repository"; readonly path: string }
  | { readonly kind: "operation"; readonly operation: Operation }
  | { readonly kind: "dirty"; readonly paths: readonly TreePath[] }
  | { readonly kind: "hidden-edit"; readonly paths: readonly TreePath[]; readonly bit: string }
  | { readonly kind: "ignored-files"; readonly paths: readonly TreePath[] }
  | { readonly kind: "nested-repository"; readonly paths: readonly TreePath[] }
  | { readonly kind: "unreachable-ref"; readonly refs: readonly string[] }
  | { readonly kind: "unreachable-head"; readonly head: Oid }
  | {
      readonly kind: "left-over";
      readonly path: string;
      /** What could not be deleted, and why. All else is there again, ignored files excepted. */
      readonly output: string;
      /** What is in the directory, at its top. */
      readonly paths: readonly TreePath[];
    };

export type Removed =
  | {
      readonly kind: "removed";
      readonly branch: BranchName | undefined;
      readonly head: Oid | undefined;
      readonly deletedIgnored: readonly TreePath[];
      /** The directory was gone already; only its registration was removed. */
      readonly wasMissing: boolean;
    }
  | { readonly kind: "refused"; readonly reason: RemoveRefusal };

/**
 * Removes a linked worktree that holds nothing which is not elsewhere. Its branch stays.
 *
 * Call it under the repository lock.
 */
export async function removeLinkedWorktree(repository: Repository, request: RemoveRequest): Promise<Removed> {
  const all = await worktrees(repository.git);
  const worktree = all.find(({ path }) => path === request.path);
  const refuse = (reason: RemoveRefusal): Removed => ({ kind: "refused", reason });
  if (worktree === undefined) return refuse({ kind: "not-a-worktree", path: request.path });
  const standing = standingProblem(repository, worktree);
  if (standing) return refuse(standing);

  const missing = (await lstat(worktree.path).catch(ifAbsent)) === undefined;
  const branch = worktree.branch === undefined ? undefined : refBranch(worktree.branch);
  let deletedIgnored: readonly TreePath[] = [];
  if (!missing) {
    const content = await contentOf(repository, worktree, all);
    if (content.problem) return refuse(content.problem);
    if (content.ignored.length > 0 && !request.deleteIgnored) {
      return refuse({ kind: "ignored-files", paths: content.ignored });
    }
    deletedIgnored = content.ignored;
  }
  const output = await deleteWorktree(repository, worktree.path);
  if (output !== undefined) {
    return refuse({ kind: "left-over", path: worktree.path, output, paths: await topOf(worktree) });
  }
  return { kind: "removed", branch, head: worktree.head, deletedIgnored, wasMissing: missing };
}

async function topOf({ path }: Worktree): Promise<TreePath[]> {
  return ((await readdir(path, { encoding: "buffer" }).catch(ifAbsent)) ?? []).map(treePath);
}

function standingProblem(repository: Repository, { path, main, locked }: Worktree): RemoveRefusal | undefined {
  if (main) return { kind: "main-worktree", path };
  if (repository.topLevel === path) return { kind: "current-worktree", path };
  if (locked !== undefined) return { kind: "locked", path, reason: locked };
  return undefined;
}

interface Content {
  readonly problem?: RemoveRefusal;
  readonly ignored: readonly TreePath[];
}

/** What is in the worktree that would be lost with it. */
async function contentOf(repository: Repository, worktree: Worktree, all: readonly Worktree[]): Promise<Content> {
  const blockedBy = (problem: RemoveRefusal): Content => ({ problem, ignored: [] });
  const git = repository.at(worktree.path);
  const place = await repositoryPlace(git).catch((error: unknown) => {
    if (error instanceof GitError && error.kind === "not-a-repository") return undefined;
    throw error;
  });
  if (place?.commonDir !== repository.commonDir || place.topLevel !== worktree.path) {
    return blockedBy({ kind: "other-repository", path: worktree.path });
  }
  const operation = await operationIn(place.dirs.gitDir);
  if (operation) return blockedBy({ kind: "operation", operation });

  const entries = await status(git, { untracked: "all", ignored: true });
  const { work } = await changesIn(worktree.path, entries);
  if (work.length > 0) return blockedBy({ kind: "dirty", paths: work.map(({ path }) => path) });
  const hidden = await presentHidden(git, worktree.path);
  const [first] = hidden;
  if (first) return blockedBy({ kind: "hidden-edit", paths: hidden.map(({ path }) => path), bit: first.bit });
  const top = entries.filter(({ kind }) => kind === "ignored").map(({ path }) => path);
  const ignored = [...top, ...(await ignoredInSubmodules(repository, worktree.path))];
  const nested = await nestedRepositories(worktree, ignored, all);
  if (nested.length > 0) return blockedBy({ kind: "nested-repository", paths: nested });
  const refs = await unreachableRefs(git);
  if (refs.length > 0) return blockedBy({ kind: "unreachable-ref", refs });
  const { branch, head } = worktree;
  if (branch === undefined && head !== undefined && !(await isReachable(git, head))) {
    return blockedBy({ kind: "unreachable-head", head });
  }
  return { ignored };
}

/** Entries that git was told not to look at and that are there: an edit in one would go unseen. */
async function presentHidden(git: Git, top: WorktreePath) {
  const hidden = await hiddenEntries(git);
  const present = await Promise.all(hidden.map(async ({ path }) => (await fileKind(top, path)) !== "absent"));
  return hidden.filter((_, index) => present[index]);
}

/** A repository below an ignored folder may hold commits that are nowhere else. */
async function nestedRepositories(
  worktree: Worktree,
  ignored: readonly TreePath[],
  all: readonly Worktree[],
): Promise<TreePath[]> {
  const inner = all.filter(({ path }) => path.startsWith(`${worktree.path}/`));
  const found = inner.map(({ path }) => treePath(Buffer.from(path.slice(worktree.path.length + 1))));
  for (const path of ignored.filter((each) => each.endsWith("/"))) {
    found.push(...(await repositoriesBelow(worktree.path, path.slice(0, -1) as TreePath)));
  }
  return [...new Set(found)];
}

async function repositoriesBelow(top: WorktreePath, folder: TreePath): Promise<TreePath[]> {
  const entries = await readdir(Buffer.from(`${top}/${folder}`, "latin1"), { withFileTypes: true, encoding: "buffer" });
  if (entries.some(({ name }) => name.toString("latin1") === ".git")) return [folder];
  const found: TreePath[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    found.push(...(await repositoriesBelow(top, join(folder, entry.name.toString("latin1")) as TreePath)));
  }
  return found;
}

/** References that belong to the worktree alone go with it; git-worktree(1), "Refs". */
async function unreachableRefs(git: Git): Promise<string[]> {
  const own = await refTips(git, ["refs/worktree/", "refs/rewritten/"]);
  return own.map(({ ref }) => ref);
}
