import { unstage } from "../git/commit.ts";
import { failedFilter, GitError } from "../git/git-error.ts";
import { branchRef, type TreePath, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { isSparse } from "../git/sparse.ts";
import { status } from "../git/status.ts";
import { worktrees } from "../git/worktree-list.ts";
import { type Birth, changesIn } from "./changes.ts";
import { contentAt } from "./content.ts";
import { type CopyProgress, copyPaths, type Skipped } from "./copy.ts";
import type { NewWorktree } from "./create.ts";
import { includedPaths } from "./include.ts";
import { runSetup, type Setup } from "./setup.ts";
import { initSubmodules, type SubmodulesReady } from "./submodules.ts";

/** What a new worktree gets beside what is in its commit. */
export interface Wishes {
  /** Patterns of ignored files to copy, beside those in `.worktreeinclude`. */
  readonly include: readonly string[];
  readonly setup?: Setup | undefined;
}

export interface PrepareContext {
  /** Whose ignored files and submodules it gets. */
  readonly checkout: WorktreePath;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onCopy?: ((progress: CopyProgress) => void) | undefined;
  readonly onSetup?: ((output: string) => void) | undefined;
}

/** What the new worktree has got. */
export interface Equipment {
  readonly copied: CopyProgress;
  readonly skipped: readonly Skipped[];
  readonly submodules: SubmodulesReady;
  readonly sparse: boolean;
  /** Of the set-up command's doing; they stay out of commits until somebody works on them. */
  readonly changedBySetup: Birth["dirty"];
}

export type PrepareProblem =
  | { readonly kind: "copy-failed"; readonly why: string }
  | { readonly kind: "git-failed"; readonly output: string; readonly filter: string | undefined }
  | { readonly kind: "setup-failed"; readonly command: string; readonly how: string; readonly output: string }
  /** It did not leave the worktree on its branch, or the branch where it was. */
  | { readonly kind: "changed-by-setup"; readonly command: string; readonly found: string };

export type Prepared =
  | { readonly kind: "prepared"; readonly born: Birth; readonly equipment: Equipment }
  | { readonly kind: "aborted" }
  /** The worktree is there, and of no use: whoever made it takes it back. */
  | { readonly kind: "failed"; readonly problem: PrepareProblem };

/** Copies in, initialises and sets up. The checkout that it comes from is only read. */
export async function prepareWorktree(
  whole: Repository,
  worktree: NewWorktree,
  { include, setup }: Wishes,
  { checkout, env, signal, onCopy, onSetup }: PrepareContext,
): Promise<Prepared> {
  const repository = whole.with({ signal });
  const { path } = worktree;
  try {
    const copied = await includedPaths(repository, checkout, include);
    const { skipped, ...amount } = await copyPaths(checkout, path, copied, { signal, onProgress: onCopy });
    const submodules = await initSubmodules(repository, checkout, path);
    if (setup !== undefined) {
      const end = await runSetup(setup, { worktree: path, checkout, env, signal, onOutput: onSetup });
      if (end.kind === "aborted") return end;
      const { command } = setup;
      if (end.kind === "failed") return failed({ ...end, kind: "setup-failed", command });
      const found = await elsewhere(repository, worktree);
      if (found !== undefined) return failed({ kind: "changed-by-setup", command, found });
    }
    const dirty = await dirtyContent(repository, worktree, copied);
    const sparse = await isSparse(repository.at(path));
    const equipment = { copied: amount, skipped, submodules, sparse, changedBySetup: dirty };
    return { kind: "prepared", born: { copied, dirty }, equipment };
  } catch (error) {
    if (signal?.aborted) return { kind: "aborted" };
    if (error instanceof GitError) {
      const output = error.command.stderr.trim() || error.message;
      return failed({ kind: "git-failed", output, filter: failedFilter(error) });
    }
    if (!(error instanceof Error && "syscall" in error)) throw error;
    return failed({ kind: "copy-failed", why: error.message });
  }
}

function failed(problem: PrepareProblem): Prepared {
  return { kind: "failed", problem };
}

/** Where the worktree is, if not where it was made. */
async function elsewhere(repository: Repository, { path, branch, head }: NewWorktree): Promise<string | undefined> {
  const now = (await worktrees(repository.git)).find((each) => each.path === path);
  if (now?.branch === branchRef(branch) && now.head === head) return undefined;
  return now === undefined ? "no worktree any more" : `${now.branch ?? "a detached HEAD"} at ${now.head}`;
}

/** What differs from HEAD though nobody has worked on it yet; nothing of it stays staged. */
async function dirtyContent(
  repository: Repository,
  { path, head }: NewWorktree,
  copied: readonly TreePath[],
): Promise<Birth["dirty"]> {
  const git = repository.at(path);
  const { work } = await changesIn(path, await status(git, { untracked: "all" }), { copied, dirty: [] });
  const staged = work.filter((entry) => entry.kind === "changed" && !entry.xy.startsWith("."));
  await unstage(
    git,
    staged.map((entry) => entry.path),
  );
  return Promise.all(work.map(async (entry) => [entry.path, await contentAt(path, entry.path, head)] as const));
}
