import { rm } from "node:fs/promises";
import { GitError } from "../git/git-error.ts";
import type { WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { lockWorktree, removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { submoduleCommitsOnlyIn } from "./submodules.ts";

/**
 * Removes a worktree with all that is in it, and its registration. The caller knows that nothing of it would be lost;
 * commits that only a submodule of it holds are looked for here.
 *
 * git itself removes none that has submodules, or in which a file is modified from birth.
 *
 * @param untouched whether there are such files.
 * @returns why it is still there; `undefined` when it is gone.
 */
export async function deleteWorktree(
  repository: Repository,
  path: WorktreePath,
  { untouched }: { readonly untouched: boolean },
): Promise<string | undefined> {
  const { git } = repository;
  const lock = (await worktrees(git)).find((each) => each.path === path)?.locked;
  const kept = async (why: string) => {
    if (lock !== undefined) await lockWorktree(git, path, lock);
    return why;
  };
  try {
    if (lock !== undefined) await unlockWorktree(git, path);
    if (!untouched) {
      const plain = await removeWorktree(git, path).then(
        () => "removed" as const,
        (error: unknown) => {
          if (error instanceof GitError && error.kind === "has-submodules") return error.kind;
          throw error;
        },
      );
      if (plain === "removed") return undefined;
    }
    const only = await submoduleCommitsOnlyIn(repository, path);
    if (only.length > 0) return await kept(`commits of submodules that are nowhere else: ${only.join(", ")}`);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
    await removeWorktree(git, path);
    return undefined;
  } catch (error) {
    if (!isFailure(error)) throw error;
    return (await isRegistered(repository, path)) ? kept(error.message) : error.message;
  }
}

function isFailure(error: unknown): error is Error {
  return error instanceof GitError || (error instanceof Error && "code" in error);
}

async function isRegistered({ git }: Repository, path: WorktreePath): Promise<boolean> {
  return (await worktrees(git)).some((each) => each.path === path);
}
