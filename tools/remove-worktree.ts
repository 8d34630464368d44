import { lstat } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { refTip } from "../src/git/for-each-ref.ts";
import { type BranchName, branchRef, type Oid } from "../src/git/names.ts";
import { ifAbsent } from "../src/git/tree-file.ts";
import { worktrees } from "../src/git/worktree-list.ts";
import { plural } from "../src/landing/words.ts";
import { owningRun } from "../src/worktree/place.ts";
import { type RemoveRefusal, removeLinkedWorktree } from "../src/worktree/remove.ts";
import { pathParameter } from "./arguments.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { boundedPaths, foreign, name, type PathList, pathLines } from "./text.ts";
import { type Answer, agentTool, type Call, exclusively, type ToolDeps } from "./tool.ts";

const Parameters = Type.Object(
  {
    worktreePath: pathParameter("Exact path of a linked worktree, as list_worktrees shows it."),
    deleteIgnored: Type.Optional(
      Type.Boolean({ description: "Delete the ignored files in it too. Default: false, they block the removal." }),
    ),
  },
  { additionalProperties: false },
);

export interface RemoveWorktreeDetails {
  readonly outcome: "removed";
  readonly worktreePath: string;
  readonly handoff: {
    readonly cwd: null;
    /** Still there, at `head`; `null` when HEAD was detached. */
    readonly branch: BranchName | null;
    readonly head: Oid | null;
    readonly ready: false;
    readonly summary: string;
  };
  readonly deletedIgnored: PathList;
}

export const removeWorktreeTool = (deps: ToolDeps) =>
  agentTool<typeof Parameters, RemoveWorktreeDetails>(deps, {
    name: "remove_worktree",
    label: "Remove worktree",
    description:
      "Remove a linked worktree that holds nothing which is not elsewhere: present, unlocked, clean, owned by no run. " +
      "Its branch is kept. Ignored files block the removal unless deleteIgnored is true.",
    promptSnippet: "Remove a clean linked git worktree, keeping its branch",
    promptGuidelines: [
      "Use remove_worktree, never rm, when a linked worktree is done with; commit what should stay first.",
    ],
    parameters: Parameters,
    executionMode: "sequential",
    run: (call, params) => exclusively(call, () => remove(call, params)),
  });

async function remove(call: Call, params: Static<typeof Parameters>): Promise<Answer<RemoveWorktreeDetails> | Blocked> {
  const { repository } = call;
  const { worktreePath: path, deleteIgnored = false } = params;
  const worktree = (await worktrees(repository.git)).find((each) => each.path === path);
  const run = worktree && owningRun(worktree);
  if (run !== undefined) {
    const next = "Leave it to the run. A person ends or discards it with /ultrathink-runs.";
    return blocked("owned-by-run", `${name(path)} belongs to run ${run}.`, next);
  }
  if (worktree && !worktree.main && (await lstat(path).catch(ifAbsent)) === undefined) {
    const next = "Bring the directory back, or a person drops the registration with `git worktree remove`.";
    return blocked("missing", `${name(path)} is registered, but its directory is missing.`, next);
  }
  const removed = await removeLinkedWorktree(repository, { path, deleteIgnored });
  if (removed.kind === "refused") return refusal(removed.reason);
  const { branch = null, head = null, deletedIgnored } = removed;
  await verifyRemoved(call, path, branch, head);
  const kept = branch === null ? "Its HEAD was detached." : `Branch ${branch} is kept at ${head}.`;
  const summary = `Linked worktree ${name(path)} was removed. ${kept}`;
  const ignored = deletedIgnored.length === 0 ? "" : `\nDeleted with it, ignored:\n${pathLines(deletedIgnored)}`;
  const handoff = { cwd: null, branch, head, ready: false, summary } as const;
  const details = {
    outcome: "removed",
    worktreePath: path,
    handoff,
    deletedIgnored: boundedPaths(deletedIgnored),
  } as const;
  return { details, text: `${summary}${ignored}` };
}

async function verifyRemoved({ repository: { git } }: Call, path: string, branch: BranchName | null, head: Oid | null) {
  if ((await lstat(path).catch(ifAbsent)) !== undefined) throw new Error(`${path} is still there after its removal`);
  if (branch === null) return;
  const tip = await refTip(git, branchRef(branch));
  if (tip?.oid !== (head ?? undefined))
    throw new Error(`${branch} is at ${tip?.oid} after the removal, not at ${head}`);
}

function refusal(reason: RemoveRefusal): Blocked {
  const { kind } = reason;
  switch (reason.kind) {
    case "not-a-worktree":
      return blocked(
        kind,
        `${name(reason.path)} is not a worktree of this repository.`,
        "Give the exact path that list_worktrees shows.",
      );
    case "main-worktree":
      return blocked(kind, `${name(reason.path)} is the main worktree.`, "Only linked worktrees can be removed.");
    case "current-worktree":
      return blocked(kind, `${name(reason.path)} is the current worktree.`, "Call from another worktree.");
    case "locked":
      return blocked(kind, `${name(reason.path)} is locked.`, "Whoever locked it unlocks it: `git worktree unlock`.", {
        output: reason.reason,
      });
    case "other-repository":
      return blocked(
        kind,
        `The directory ${name(reason.path)} now belongs to another repository, or to none.`,
        "A person looks at what is there.",
      );
    case "operation":
      return blocked(kind, `A ${reason.operation} is in progress there.`, "Finish or abort it there, then call again.");
    case "dirty":
      return blocked(
        kind,
        `${plural(reason.paths.length, "uncommitted file")} would be lost:`,
        "Commit them there with commit_iteration, or move them, then call again.",
        reason,
      );
    case "hidden-edit":
      return blocked(
        kind,
        `Edits in files marked ${reason.bit} cannot be seen and could be lost:`,
        "Clear the bit there with `git update-index`, look at the files, then call again.",
        reason,
      );
    case "ignored-files":
      return blocked(
        kind,
        "Ignored files would be deleted with it:",
        "Call with deleteIgnored: true if nobody needs them.",
        reason,
      );
    case "nested-repository":
      return blocked(
        kind,
        "Repositories of their own lie inside; their commits may be nowhere else:",
        "Move them elsewhere, then call again.",
        reason,
      );
    case "unreachable-ref":
      return blocked(
        kind,
        `References of this worktree alone would go with it: ${foreign(reason.refs.join(", "))}.`,
        "Put a branch on each of their commits, or delete them, then call again.",
      );
    case "unreachable-head":
      return blocked(
        kind,
        `HEAD is detached at ${reason.head}, which no branch or tag holds.`,
        "Put a branch on it there with `git branch`, then call again.",
      );
    case "left-over":
      return blocked(
        kind,
        `${name(reason.path)} could not be deleted. It is still a worktree, with all that is committed; ignored files may be gone. In it:`,
        "A person mends the cause, then call again.",
        reason,
      );
  }
}
