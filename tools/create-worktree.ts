import { type Static, Type } from "typebox";
import type { Git } from "../src/git/git.ts";
import type { BranchName, Oid, ShownPath, WorktreePath } from "../src/git/names.ts";
import { commitOid, repositoryPlace } from "../src/git/rev-parse.ts";
import { isSparse } from "../src/git/sparse.ts";
import type { WorktreeCheckout } from "../src/git/worktree.ts";
import { shownWorktreePath } from "../src/git/worktree-list.ts";
import { type CreateRefusal, createWorktree } from "../src/worktree/create.ts";
import { branchArgument, branchParameter, isBlocked, pathArgument, pathParameter } from "./arguments.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { StringEnum } from "./string-enum.ts";
import { name } from "./text.ts";
import { type Answer, agentTool, type Call, exclusively, type ToolDeps } from "./tool.ts";

const Parameters = Type.Object(
  {
    worktreePath: pathParameter("New directory, absolute or relative to the current one; best beside the repository."),
    branchName: branchParameter("Local branch to check out there, e.g. topic/x."),
    branchMode: StringEnum(["new", "existing"], { description: "Create the branch, or use the one that is there." }),
    baseRef: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "Where a new branch starts. Default: HEAD." }),
    ),
  },
  { additionalProperties: false },
);

/** The new place of work: use `cwd` exactly as it stands. */
export interface Handoff {
  readonly cwd: WorktreePath;
  readonly branch: BranchName;
  readonly head: Oid;
  readonly ready: true;
  readonly summary: string;
}

export interface CreateWorktreeDetails {
  readonly outcome: "created";
  readonly handoff: Handoff;
  /** Only the directories of the sparse checkout are there. */
  readonly sparse: boolean;
  /** The worktree whose directory it is in, where git ignores it; `null` when it is beside them all. */
  readonly inside: WorktreePath | null;
  /** Other worktrees whose HEAD git cannot read. */
  readonly damagedWorktrees: readonly ShownPath[];
}

const DAMAGED_SHOWN = 10;

export const createWorktreeTool = (deps: ToolDeps) =>
  agentTool<typeof Parameters, CreateWorktreeDetails>(deps, {
    name: "create_worktree",
    label: "Create worktree",
    description:
      "Create a linked git worktree on a new or existing local branch, verify it, and return its exact absolute path as " +
      "handoff.cwd. The current checkout is not touched. When it fails, nothing of it stays.",
    promptSnippet: "Create a linked git worktree on a branch of its own",
    promptGuidelines: [
      "Use create_worktree for work that must not touch the current checkout, then work in handoff.cwd.",
    ],
    parameters: Parameters,
    executionMode: "sequential",
    run: (call, params) => exclusively(call, () => create(call, params)),
  });

async function create(call: Call, params: Static<typeof Parameters>): Promise<Answer<CreateWorktreeDetails> | Blocked> {
  const { repository } = call;
  const path = pathArgument(call.cwd, params.worktreePath);
  if (isBlocked(path)) return path;
  const branch = branchArgument(params.branchName);
  if (isBlocked(branch)) return branch;
  const checkout = await checkoutOf(repository.git, branch, params);
  if ("outcome" in checkout) return checkout;

  const created = await createWorktree(repository, { path, checkout, makeParent: true });
  if (created.kind === "refused") return refusal(created.reason);
  const git = repository.at(created.path);
  const place = await repositoryPlace(git);
  if (place.topLevel !== created.path || (await commitOid(git, "HEAD")) !== created.head) {
    throw new Error(`${created.path} was created, but git sees ${place.topLevel} there`);
  }
  const sparse = await isSparse(git);
  const kind = checkout.kind === "new-branch" ? "new branch" : "branch";
  const summary = `Linked worktree ${name(created.path)} is ready on ${kind} ${branch} at ${created.head}.`;
  const handoff = { cwd: created.path, branch, head: created.head, ready: true, summary } as const;
  const inside = created.inside ?? null;
  const damagedWorktrees = created.damaged.slice(0, DAMAGED_SHOWN).map(shownWorktreePath);
  const notes = [
    ...(sparse ? ["It is sparse, like the checkout it comes from: only some directories are there."] : []),
    ...(inside === null ? [] : [`It is inside ${name(inside)}, in a directory that git ignores there.`]),
    ...damagedWorktrees.map(
      (path) => `Damaged, and left alone: worktree ${shownName(path)}, whose HEAD git cannot read.`,
    ),
  ];
  const next = "Work there with exactly that path as the working directory; the current checkout was not touched.";
  const details = { outcome: "created", handoff, sparse, inside, damagedWorktrees } as const;
  return { details, text: [summary, ...notes, next].join("\n") };
}

function shownName(path: ShownPath): string {
  return typeof path === "string" ? name(path) : JSON.stringify(path);
}

type Checkout = Extract<WorktreeCheckout, { branch: BranchName }>;

async function checkoutOf(
  git: Git,
  branch: BranchName,
  { branchMode, baseRef }: Static<typeof Parameters>,
): Promise<Checkout | Blocked> {
  if (branchMode === "existing") {
    if (baseRef === undefined) return { kind: "branch", branch };
    const next = 'Leave baseRef out, or use branchMode "new".';
    return blocked(
      "base-of-existing-branch",
      "An existing branch is checked out where it is; baseRef has no meaning.",
      next,
    );
  }
  const start = await baseCommit(git, baseRef);
  if (start !== undefined) return { kind: "new-branch", branch, start };
  if (baseRef !== undefined) {
    const next = "Name a branch, tag or commit that exists here.";
    return blocked("base-not-found", `${name(baseRef)} is not a commit of this repository.`, next);
  }
  return blocked(
    "no-commit",
    "There is no commit yet, so a worktree has nothing to start from.",
    "Make a first commit.",
  );
}

/** A branch comes before a tag of the same name, which git alone would prefer. */
async function baseCommit(git: Git, baseRef = "HEAD"): Promise<Oid | undefined> {
  if (/[\p{Cc}\p{Cs}]/u.test(baseRef)) return undefined;
  if (baseRef === "HEAD") return commitOid(git, baseRef);
  return (await commitOid(git, `refs/heads/${baseRef}`)) ?? commitOid(git, baseRef);
}

function refusal(reason: CreateRefusal): Blocked {
  const { kind } = reason;
  switch (reason.kind) {
    case "branch-exists":
      return blocked(kind, `Branch ${reason.branch} exists already.`, 'Use branchMode "existing", or another name.');
    case "branch-missing":
      return blocked(kind, `There is no local branch ${reason.branch}.`, 'Use branchMode "new" to create it.');
    case "branch-clash":
      return blocked(kind, `Branch ${reason.branch} cannot exist beside ${reason.with}.`, "Use another name.");
    case "branch-checked-out":
      return blocked(
        kind,
        `Branch ${reason.branch} is checked out in ${name(reason.worktree)}.`,
        "Work there, or use another branch.",
      );
    case "path-exists":
      return blocked(kind, `${name(reason.path)} exists already.`, "Use another path.");
    case "path-registered":
      return blocked(
        kind,
        `${name(reason.path)} is registered as a worktree${reason.missing ? ", and its directory is missing" : ""}.`,
        reason.missing
          ? `Use another path. A person can drop the registration with ${reason.locked === undefined ? "" : "`git worktree unlock` and "}\`git worktree remove\`.`
          : "Use another path, or work there.",
      );
    case "path-not-writable":
      return blocked(kind, `${name(reason.path)} cannot be made.`, "Use another path.", { output: reason.why });
    case "parent-missing":
      return blocked(kind, `${name(reason.path)} is not a directory.`, "Use another path.");
    case "inside-worktree":
      return blocked(
        kind,
        `${name(reason.path)} is inside the worktree ${name(reason.worktree)}, whose tools would pick it up.`,
        "Use a path beside it, or one that git ignores there.",
      );
    case "filter-failed":
      return blocked(
        kind,
        `git could not check out the files of filter ${name(reason.filter)}, which is required; what it began was taken back.`,
        `A person mends that filter (filter.${reason.filter} in git's configuration), then call again.`,
        reason,
      );
    case "disk-full":
      return blocked(
        kind,
        `No space left for ${name(reason.path)}: it needs ${reason.neededBytes} bytes, ${reason.freeBytes} are free. What git began was taken back.`,
        "Use a path on another disk, or a person makes room, then call again.",
      );
    case "git-failed":
      return blocked(
        kind,
        "git could not create the worktree; what it began was taken back.",
        "Mend the cause, then call again.",
        {
          output: reason.output,
        },
      );
    case "changed-by-hook":
      return blocked(
        kind,
        `The new worktree was not as asked for, and was taken back: expected ${reason.expected}, found ${reason.found}.`,
        "A post-checkout hook has probably changed it. A person mends the hook.",
      );
  }
}
