import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { type BranchName, toBranchName, toWorktreePath, type WorktreePath } from "../git/names.ts";

/** Every run's branch is below this folder of branches. */
export const SCRATCH_PREFIX = "ultrathink";

export function scratchBranch(slug: string): BranchName {
  return toBranchName(`${SCRATCH_PREFIX}/${slug}`);
}

/** Beside the main worktree, never inside, where linters, test runners and `git add` would pick it up. */
export const DEFAULT_TEMPLATE = "{repo}.worktrees/{slug}";

/** Where runs' worktrees go: `template`, relative to what the main worktree lies in. */
export interface RunPlaces {
  readonly mainWorktree: string;
  /**
   * Path in which `{slug}`, `{repo}` (name of the main worktree's directory) and `{parent}` (the directory that it is
   * in) are filled in; `~/` is the home directory.
   */
  readonly template: string;
}

export function runWorktreePath(places: RunPlaces, slug: string): WorktreePath {
  return toWorktreePath(filled(places, slug));
}

/** The folder that holds what is named after a slug. */
export function runWorktreeFolder(places: RunPlaces): string {
  return dirname(topmostOf(places, "{slug}"));
}

/** What in {@link runWorktreeFolder} a run of this slug would be called. */
export function runWorktreeName(places: RunPlaces, slug: string): string {
  return basename(topmostOf(places, slug));
}

/** The path down to the first component that the slug is in. */
function topmostOf({ mainWorktree, template }: RunPlaces, slug: string): string {
  const [before = "", rest = ""] = template.split(/\{slug\}(.*)/s);
  return filled({ mainWorktree, template: `${before}{slug}${/^[^/]*/.exec(rest)?.[0]}` }, slug);
}

function filled({ mainWorktree, template }: RunPlaces, slug: string): string {
  const parent = dirname(mainWorktree);
  const values: Readonly<Record<string, string>> = { repo: basename(mainWorktree), parent, slug };
  const path = template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  return resolve(parent, path.replace(/^~(?=\/)/, homedir()));
}

const LOCK_PREFIX = "ultrathink run ";

/** Why a run's worktree is locked: git shows it, and it tells other tools whose the worktree is. */
export function runLockReason(id: string, slug: string): string {
  return `${LOCK_PREFIX}${id} (${slug})`;
}

/** Id of the run that locked a worktree for itself. */
export function owningRun({ locked }: { readonly locked: string | undefined }): string | undefined {
  return locked?.startsWith(LOCK_PREFIX) ? locked.slice(LOCK_PREFIX.length).split(" ", 1)[0] : undefined;
}
