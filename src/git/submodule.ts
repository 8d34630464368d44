import type { Git } from "./git.ts";
import { indexEntries } from "./index-entries.ts";
import { hiddenEntries } from "./ls-files.ts";
import { type Oid, pathText, type TreePath } from "./names.ts";
import type { Repository } from "./repository.ts";

export interface Submodule {
  readonly name: string;
  readonly path: string;
  /** The commit that the index asks for. */
  readonly commit: Oid;
}

const GITLINK = "160000";

/**
 * Submodules that a worktree should have: what the index has as one and HEAD's `.gitmodules` names, outside of what a
 * sparse checkout leaves away. One whose name or path is not UTF-8, or would lead out of where git keeps submodules,
 * is none.
 */
export async function submodules(git: Git): Promise<Submodule[]> {
  const pattern = "^submodule\\..*\\.path$";
  const output = await git(["config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", pattern], {
    okCodes: [0, 1],
  });
  const named = output.records().flatMap((record) => {
    const newline = record.indexOf("\n");
    const name = pathText(record.slice("submodule.".length, newline - ".path".length) as TreePath);
    const path = pathText(record.slice(newline + 1) as TreePath);
    return newline < 0 || name === undefined || path === undefined || !isInside(name) ? [] : [{ name, path }];
  });
  if (named.length === 0) return [];
  const links = new Map(
    (await indexEntries(git)).filter(({ mode }) => mode === GITLINK).map(({ path, oid }) => [pathText(path), oid]),
  );
  const away = new Set((await hiddenEntries(git)).map(({ path }) => pathText(path)));
  return named.flatMap(({ name, path }) => {
    const commit = links.get(path);
    return commit === undefined || away.has(path) ? [] : [{ name, path, commit }];
  });
}

/** Git bound to a submodule's git directory: whose working tree may be gone, which git would stumble over. */
export function submoduleGit(repository: Repository, gitDir: string): Git {
  const git = repository.at(gitDir);
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: gitDir };
  return (args, options) => git(args, { ...options, env: { ...options?.env, ...env } });
}

function isInside(name: string): boolean {
  return !name.startsWith("-") && !name.split(/[/\\]/).includes("..");
}

/**
 * Clones a submodule from `source`, a repository on this machine, and checks its commit out; nothing is asked of a
 * network. The shared configuration is not written.
 */
export async function initSubmodule(git: Git, { name, path }: Submodule, source: string): Promise<void> {
  const settings = [
    [`submodule.${name}.url`, source], // also makes it active, so that git has nothing to note down
    ["protocol.allow", "never"],
    ["protocol.file.allow", "always"],
  ];
  const env = Object.fromEntries([
    ["GIT_CONFIG_COUNT", `${settings.length}`],
    ...settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
  const args = ["submodule", "--quiet", "update", "--init", "--no-fetch", "--checkout", "--", path];
  await git(["--literal-pathspecs", ...args], { env });
}
