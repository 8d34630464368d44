import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkOutMissing } from "../git/checkout-index.ts";
import { GitError } from "../git/git-error.ts";
import type { WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { ifAbsent } from "../git/tree-file.ts";
import { removeWorktree, unlockWorktree } from "../git/worktree.ts";
import { worktrees } from "../git/worktree-list.ts";
import { submoduleCommitsOnlyIn } from "./submodules.ts";

/**
 * Removes a worktree with all that is in it, and its registration. The caller knows that nothing of it would be lost;
 * commits that only a submodule of it holds are looked for here.
 *
 * Not by `git worktree remove` alone, which refuses one that has submodules or in which a file is modified from birth,
 * and drops the registration of one that it could delete only in part.
 *
 * @returns why it is still there, tracked files and registration included; `undefined` when it is gone.
 */
export async function deleteWorktree(repository: Repository, path: WorktreePath): Promise<string | undefined> {
  const { git } = repository;
  const registered = (await worktrees(git)).find((each) => each.path === path);
  if (registered === undefined) return "git does not list it among its worktrees";
  try {
    const pointer = await readFile(join(path, ".git")).catch(ifAbsent);
    if (pointer !== undefined) {
      const only = await submoduleCommitsOnlyIn(repository, path);
      if (only.length > 0) return `commits of submodules that are nowhere else: ${only.join(", ")}`;
      const failure = await deleteFiles(path);
      if (failure !== undefined) {
        await writeFile(join(path, ".git"), pointer);
        await checkOutMissing(repository.at(path));
        return failure;
      }
    }
    if (registered.locked !== undefined) await unlockWorktree(git, path);
    await removeWorktree(git, path);
    return undefined;
  } catch (error) {
    if (!(error instanceof GitError || isFileError(error))) throw error;
    return error instanceof GitError ? error.command.stderr.trim() || error.message : error.message;
  }
}

/** What makes the directory a worktree goes last. @returns what could not be deleted, and why. */
async function deleteFiles(path: WorktreePath): Promise<string | undefined> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  try {
    for (const name of await readdir(path, { encoding: "buffer" })) {
      if (name.toString("latin1") === ".git") continue;
      await rm(Buffer.concat([Buffer.from(`${path}/`), name]), options);
    }
    await rm(path, options);
    return undefined;
  } catch (error) {
    if (!isFileError(error)) throw error;
    return error.message;
  }
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}
