import { Type } from "typebox";
import { type Oid, refBranch, type ShownPath } from "../src/git/names.ts";
import { shownWorktreePath, type Worktree, worktrees } from "../src/git/worktree-list.ts";
import { plural } from "../src/landing/words.ts";
import { type DirtyCounts, type Inspection, inspectWorktree } from "../src/worktree/inspect.ts";
import { owningRun } from "../src/worktree/place.ts";
import { type ForeignText, foreign, lines, name } from "./text.ts";
import { type Answer, agentTool, type Call, type ToolDeps } from "./tool.ts";

const Parameters = Type.Object({}, { additionalProperties: false });

export interface ListedWorktree {
  readonly path: ShownPath;
  /** `null` when HEAD is detached, or damaged. */
  readonly branch: string | null;
  /** `null` on an unborn branch, in a bare repository, or when HEAD is damaged. */
  readonly head: Oid | null;
  readonly main: boolean;
  readonly linked: boolean;
  readonly current: boolean;
  readonly bare: boolean;
  /** The reason; `null` when it is not locked. */
  readonly locked: ForeignText | null;
  /** Why git would prune it. */
  readonly prunable: ForeignText | null;
  /** Id of the run that it belongs to. */
  readonly owningRun: string | null;
  readonly state: Inspection["kind"];
  /** `null` when it could not be looked at. */
  readonly dirty: DirtyCounts | null;
  /** Why not. */
  readonly problem: ForeignText | null;
}

export interface ListWorktreesDetails {
  readonly outcome: "listed";
  readonly worktrees: readonly ListedWorktree[];
}

/** git processes at once. */
const AT_ONCE = 8;
/** For one worktree; a slow disk is not an error, a hung one must not hold up the list. */
const LIMIT_MS = 30_000;
const WORKTREES_SHOWN = 50;

export const listWorktreesTool = (deps: ToolDeps) =>
  agentTool<typeof Parameters, ListWorktreesDetails>(deps, {
    name: "list_worktrees",
    label: "List worktrees",
    description:
      "List every worktree of this repository: exact path, branch, HEAD, main or linked, current, locked, prunable, " +
      "counts of uncommitted entries, and the run that owns it. Changes nothing.",
    promptSnippet: "List the git worktrees of this repository and their state",
    promptGuidelines: ["Use list_worktrees for the exact paths that remove_worktree and commit_iteration ask for."],
    parameters: Parameters,
    executionMode: "parallel",
    run: list,
  });

async function list({ repository, signal }: Call): Promise<Answer<ListWorktreesDetails>> {
  const patient = repository.with({ signal, timeoutMs: LIMIT_MS });
  const all = await worktrees(repository.git);
  const listed = await limited(all, AT_ONCE, async (worktree) =>
    describe(worktree, await inspectWorktree(patient, worktree), worktree.path === repository.topLevel),
  );
  const text = [`${plural(listed.length, "worktree")}:`, lines(listed.map(line), WORKTREES_SHOWN)].join("\n");
  return { details: { outcome: "listed", worktrees: listed }, text };
}

function describe(worktree: Worktree, inspection: Inspection, current: boolean): ListedWorktree {
  const { branch, head, main, bare, locked, prunable } = worktree;
  return {
    path: shownWorktreePath(worktree),
    branch: branch === undefined ? null : (refBranch(branch) ?? branch),
    head: head ?? null,
    main,
    linked: !main,
    current,
    bare,
    locked: locked === undefined ? null : foreign(locked),
    prunable: prunable === undefined ? null : foreign(prunable),
    owningRun: owningRun(worktree) ?? null,
    state: inspection.kind,
    dirty: inspection.kind === "present" ? inspection.dirty : null,
    problem: inspection.kind === "unreadable" ? foreign(inspection.why) : null,
  };
}

function line({
  path,
  branch,
  head,
  main,
  current,
  state,
  dirty,
  problem,
  locked,
  owningRun: run,
}: ListedWorktree): string {
  const place = [main ? "main" : "linked", ...(current ? ["current"] : [])].join(", ");
  const at = `${branch ?? "detached HEAD"} at ${head ?? "no commit"}`;
  const facts = [
    dirty === null ? (problem ?? state) : dirtyText(dirty),
    ...(run === null ? [] : [`owned by run ${run}`]),
    ...(locked === null ? [] : [`locked${locked && `: ${locked}`}`]),
  ];
  return `- ${typeof path === "string" ? name(path) : JSON.stringify(path)} (${place}) ${at}; ${facts.join("; ")}`;
}

function dirtyText({ staged, unstaged, untracked, unmerged }: DirtyCounts): string {
  const counts = Object.entries({ staged, unstaged, untracked, unmerged }).filter(([, count]) => count > 0);
  return counts.length === 0 ? "clean" : counts.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

/** Like `Promise.all` over `map`, with no more than `limit` under way. */
async function limited<T, R>(items: readonly T[], limit: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
