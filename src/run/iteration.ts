import { lstat } from "node:fs/promises";
import { commitIndex, stageAll, unstage } from "../git/commit.ts";
import { type FileStat, fileStats, patch } from "../git/diff-text.ts";
import type { Git } from "../git/git.ts";
import { isAncestor } from "../git/merge-base.ts";
import { type BranchName, branchRef, type Oid, readablePath, type TreePath, type WorktreePath } from "../git/names.ts";
import { operationIn } from "../git/operation.ts";
import type { Repository } from "../git/repository.ts";
import { commitOid, treeOids, worktreeDirs } from "../git/rev-parse.ts";
import { type StatusEntry, status } from "../git/status.ts";
import { absolute, fileKind, ifAbsent } from "../git/tree-file.ts";
import { worktrees } from "../git/worktree-list.ts";
import { type Birth, changesIn } from "../worktree/changes.ts";

/** Where a run's commits go. */
export interface Scratch {
  readonly worktree: WorktreePath;
  readonly branch: BranchName;
  readonly born?: Birth | undefined;
}

/** Why an iteration's work cannot be committed as it is. What is there is left alone. */
export type ScratchProblem =
  | { readonly kind: "worktree-gone"; readonly worktree: WorktreePath }
  | { readonly kind: "left-branch"; readonly found: string }
  | { readonly kind: "history-rewritten"; readonly lastTip: Oid; readonly found: Oid | undefined }
  | { readonly kind: "operation"; readonly operation: string };

export type Staged =
  | { readonly kind: "problem"; readonly problem: ScratchProblem }
  | { readonly kind: "unchanged"; readonly tip: Oid }
  /** The agent committed by itself and left nothing uncommitted. */
  | { readonly kind: "committed-by-agent"; readonly tip: Oid }
  | {
      readonly kind: "staged";
      readonly tip: Oid;
      readonly tree: Oid;
      readonly stats: readonly FileStat[];
      readonly leftOut: readonly LeftOut[];
    };

/** In the worktree, and in no commit. */
export interface LeftOut {
  readonly path: TreePath;
  /**
   * A repository of its own, whose content a commit would not hold; a file over the size limit; a copy of an ignored
   * file of the user's, which is ignored no longer.
   */
  readonly why: "nested-repository" | "too-large" | "copied-in";
}

/** Larger files are named, not committed: they would be in the history for good. */
export const SIZE_LIMIT_BYTES = 50 * 1024 * 1024;

export interface StageOptions {
  /** What the working tree was right after the last commit, where a hook left it different from that. */
  readonly settledTree?: Oid | undefined;
  readonly sizeLimitBytes?: number;
}

/**
 * Stages what an iteration has left in the worktree.
 *
 * Whether anything changed is decided on trees: a hook or line ends can leave `status` dirty for ever.
 *
 * @param lastTip the scratch branch's tip when the iteration began.
 */
export async function stageIteration(
  repository: Repository,
  scratch: Scratch,
  lastTip: Oid,
  { settledTree, sizeLimitBytes = SIZE_LIMIT_BYTES }: StageOptions = {},
): Promise<Staged> {
  const problem = await scratchProblem(repository, scratch, lastTip);
  if (problem) return { kind: "problem", problem };
  const git = repository.at(scratch.worktree);
  const tip = await commitOid(git, "HEAD");
  if (tip === undefined) throw new TypeError(`${scratch.branch} has no commit`);
  const settled: Staged = { kind: tip === lastTip ? "unchanged" : "committed-by-agent", tip };

  const found = await stageWork(git, scratch, sizeLimitBytes);
  if (found === undefined) return settled;
  const { tree, leftOut } = found;
  const [tipTree] = await treeOids(git, [tip]);
  if (tipTree === undefined || tree === tipTree || tree === settledTree) return settled;
  return { kind: "staged", tip, tree, stats: await fileStats(git, tipTree, tree), leftOut };
}

/** The working tree as a commit of it would have it, staged; `undefined` when that is HEAD. */
async function stageWork(
  git: Git,
  { worktree, born }: Scratch,
  sizeLimitBytes: number,
): Promise<{ readonly tree: Oid; readonly leftOut: readonly LeftOut[] } | undefined> {
  const entries = await status(git, { untracked: "all" });
  if (entries.length === 0) return undefined;
  const { work, untouched, copied, stagedCopies } = await changesIn(worktree, entries, born);
  await unstage(git, stagedCopies);
  if (work.length === 0) return undefined;
  const leftOut = [
    ...(await notToCommit(worktree, work, sizeLimitBytes)),
    ...copied.map((path) => ({ path, why: "copied-in" }) as const),
  ];
  const except = [...leftOut.map(({ path }) => path), ...untouched];
  return { tree: await stageAll(git, except), leftOut };
}

async function notToCommit(
  worktree: WorktreePath,
  entries: readonly StatusEntry[],
  sizeLimitBytes: number,
): Promise<LeftOut[]> {
  const found = await Promise.all(
    entries.map(async ({ kind, path }): Promise<LeftOut | undefined> => {
      // With every file listed, an untracked path that ends in a slash is a repository of its own.
      if (kind === "untracked" && path.endsWith("/")) return { path, why: "nested-repository" };
      const stats = await lstat(absolute(worktree, path)).catch(ifAbsent);
      return stats?.isFile() && stats.size > sizeLimitBytes ? { path, why: "too-large" } : undefined;
    }),
  );
  return found.filter((each) => each !== undefined);
}

/** The working tree as it is right after a commit, when a hook has left it dirty. */
export async function settledTreeOf(repository: Repository, scratch: Scratch): Promise<Oid | undefined> {
  return (await stageWork(repository.at(scratch.worktree), scratch, SIZE_LIMIT_BYTES))?.tree;
}

/** Commits what {@link stageIteration} staged, the user's hooks in effect. @throws {GitError} as {@link commitIndex}. */
export async function commitIteration(git: Git, message: string): Promise<Oid> {
  await commitIndex(git, message);
  const tip = await commitOid(git, "HEAD");
  if (tip === undefined) throw new TypeError("no commit after a commit");
  return tip;
}

async function scratchProblem(
  repository: Repository,
  { worktree, branch }: Scratch,
  lastTip: Oid,
): Promise<ScratchProblem | undefined> {
  const registered = (await worktrees(repository.git)).find(({ path }) => path === worktree);
  if (registered === undefined || (await fileKind(worktree, ".git" as TreePath)) === "absent") {
    return { kind: "worktree-gone", worktree };
  }
  const git = repository.at(worktree);
  const { gitDir } = await worktreeDirs(git);
  const operation = await operationIn(gitDir);
  if (operation) return { kind: "operation", operation };
  if (registered.branch !== branchRef(branch)) {
    return { kind: "left-branch", found: registered.branch ?? "a detached HEAD" };
  }
  const found = registered.head;
  if (found === undefined || !(found === lastTip || (await isAncestor(git, lastTip, found)))) {
    return { kind: "history-rewritten", lastTip, found };
  }
  return undefined;
}

/** Lines such as `src/a.ts | +3 -1`, for people and models. */
export function statLines(stats: readonly FileStat[]): string {
  return stats
    .map(({ path, lines }) => {
      return `${readablePath(path)} | ${lines === undefined ? "binary" : `+${lines.added} -${lines.deleted}`}`;
    })
    .join("\n");
}

/** Lines of a patch worth showing at all. */
const PATCH_LINES = 2_000;
const PATCH_FILES = 40;

/** The patch of the files with the fewest changed lines: an excerpt of a small file says more than one of a large. */
export async function patchExcerpt(git: Git, from: Oid, to: Oid, stats: readonly FileStat[]): Promise<string> {
  const size = ({ lines }: FileStat) => (lines === undefined ? 0 : lines.added + lines.deleted);
  const paths: TreePath[] = [];
  let total = 0;
  for (const stat of [...stats].sort((a, b) => size(a) - size(b)).slice(0, PATCH_FILES)) {
    total += size(stat);
    if (total > PATCH_LINES) break;
    paths.push(stat.path);
  }
  return patch(git, from, to, paths);
}
