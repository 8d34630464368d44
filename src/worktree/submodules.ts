import { lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { missingCommits } from "../git/cat-file.ts";
import { setting } from "../git/config-get.ts";
import { refTips } from "../git/for-each-ref.ts";
import type { Git } from "../git/git.ts";
import { type TreePath, toWorktreePath, treePath, type WorktreePath } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { commitOid, worktreeDirs } from "../git/rev-parse.ts";
import { status } from "../git/status.ts";
import { initSubmodule, submoduleGit, submodules } from "../git/submodule.ts";
import { ifAbsent } from "../git/tree-file.ts";

/** Where the user's submodules of one level are. */
interface Origin {
  /** Folders that may hold their git directories, by name. */
  readonly modules: readonly string[];
  /** Git that reads the configuration in which those in use are noted. */
  readonly config: Git;
}

/** Setting of a submodule made here: the git directory that it was cloned from. */
const SOURCE = "ultrathink.source";

export interface SubmodulesReady {
  /** Paths below the top of the worktree, those of nested ones included. */
  readonly ready: readonly string[];
  /** In use in the user's checkout, but not to be had without a network. Their directories are empty. */
  readonly missing: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Gives a new worktree the submodules that the user's checkout has, cloned from there; nothing is fetched.
 *
 * Their `origin` is that of the user's submodule: a push goes where the user's would go.
 *
 * @throws {GitError} when one that is there cannot be cloned or checked out.
 */
export async function initSubmodules(
  repository: Repository,
  checkout: WorktreePath,
  worktree: WorktreePath,
): Promise<SubmodulesReady> {
  const ready: string[] = [];
  const missing: { path: string; why: string }[] = [];
  const initBelow = async (folder: string, { modules, config }: Origin): Promise<void> => {
    const git = repository.at(join(worktree, folder));
    for (const submodule of await submodules(git)) {
      const path = join(folder, submodule.path);
      const source = await gitDirAmong([
        ...modules.map((each) => join(each, submodule.name)),
        join(checkout, path, ".git"),
      ]);
      const user = source === undefined ? undefined : submoduleGit(repository, source);
      if (source === undefined || user === undefined) {
        const inUse = (await setting(config, `submodule.${submodule.name}.url`)) !== undefined;
        if (inUse) missing.push({ path, why: "it is not on this machine" });
      } else if ((await missingCommits(user, [submodule.commit])).length > 0) {
        missing.push({ path, why: `its commit ${submodule.commit} is not on this machine` });
      } else {
        await initSubmodule(git, submodule, source);
        const origin = await setting(user, "remote.origin.url");
        const inside = repository.at(join(worktree, path));
        await inside(["config", SOURCE, source]);
        if (origin !== undefined) await inside(["config", "remote.origin.url", origin]);
        ready.push(path);
        await initBelow(path, { modules: [join(source, "modules")], config: user });
      }
    }
  };
  const { gitDir } = await worktreeDirs(repository.at(checkout));
  const modules = [join(gitDir, "modules"), join(repository.commonDir, "modules")];
  await initBelow("", { modules, config: repository.at(checkout) });
  return { ready, missing };
}

/**
 * Names of a worktree's submodules with a branch, a stash or a HEAD whose commit the user's submodule does not have:
 * their git directories go with the worktree.
 */
export async function submoduleCommitsOnlyIn(repository: Repository, worktree: WorktreePath): Promise<string[]> {
  const { gitDir } = await worktreeDirs(repository.at(worktree));
  const own = join(gitDir, "modules");
  const only: string[] = [];
  for (const module of await gitDirsBelow(own)) {
    const git = submoduleGit(repository, module);
    const head = await commitOid(git, "HEAD");
    const tips = (await refTips(git, ["refs/heads/", "refs/stash"])).map(({ oid }) => oid);
    const commits = head === undefined ? tips : [head, ...tips];
    const name = relative(own, module);
    const noted = await setting(git, SOURCE);
    const named = [repository.dirs.gitDir, repository.commonDir].map((each) => join(each, "modules", name));
    const source = await gitDirAmong(noted === undefined ? named : [noted, ...named]);
    const lost = source === undefined ? commits : await missingCommits(submoduleGit(repository, source), commits);
    if (lost.length > 0) only.push(name);
  }
  return only;
}

/** Files in a worktree's submodules that git ignores there: the status of the worktree does not show them. */
export async function ignoredInSubmodules(repository: Repository, worktree: WorktreePath): Promise<TreePath[]> {
  const git = repository.at(worktree);
  const found: TreePath[] = [];
  for (const { path } of await submodules(git)) {
    const inside = toWorktreePath(join(worktree, path));
    if ((await lstat(join(inside, ".git")).catch(ifAbsent)) === undefined) continue;
    const entries = await status(repository.at(inside), { untracked: "all", ignored: true });
    const ignored = entries.filter(({ kind }) => kind === "ignored").map((entry) => entry.path);
    const prefix = treePath(Buffer.from(`${path}/`));
    for (const below of [...ignored, ...(await ignoredInSubmodules(repository, inside))]) {
      found.push(`${prefix}${below}` as TreePath);
    }
  }
  return found;
}

/** Git directories below `folder`, those of nested submodules included: a name may have slashes in it. */
async function gitDirsBelow(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(ifAbsent)) ?? [];
  if (isGitDir(entries.map(({ name }) => name))) return [folder, ...(await gitDirsBelow(join(folder, "modules")))];
  const folders = entries.filter((entry) => entry.isDirectory());
  return (await Promise.all(folders.map(({ name }) => gitDirsBelow(join(folder, name))))).flat();
}

async function gitDirAmong(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (isGitDir((await readdir(path).catch(ifAbsent)) ?? [])) return path;
  }
  return undefined;
}

function isGitDir(names: readonly string[]): boolean {
  return ["HEAD", "objects", "refs"].every((name) => names.includes(name));
}
