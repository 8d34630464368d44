import { type Static, Type } from "typebox";
import type { FileStat } from "../src/git/diff-text.ts";
import { GitError } from "../src/git/git-error.ts";
import { type BranchName, type Oid, refBranch, type WorktreePath } from "../src/git/names.ts";
import type { Repository } from "../src/git/repository.ts";
import { type Worktree, worktrees } from "../src/git/worktree-list.ts";
import { plural } from "../src/landing/words.ts";
import { commitIteration, type LeftOut, type ScratchProblem, stageIteration } from "../src/run/iteration.ts";
import { knownRuns } from "../src/run/known-runs.ts";
import type { Birth } from "../src/worktree/changes.ts";
import { owningRun } from "../src/worktree/place.ts";
import { pathParameter } from "./arguments.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { boundedPaths, foreign, name, type PathList, pathLines } from "./text.ts";
import { type Answer, agentTool, type Call, exclusively, type ToolDeps } from "./tool.ts";

const Parameters = Type.Object(
  {
    subject: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: "^[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$",
      description: "First line of the commit message, imperative, best within 72 characters.",
    }),
    body: Type.Optional(
      Type.String({ maxLength: 8000, pattern: "^[^\\u0000]*$", description: "Rest of the message: what and why." }),
    ),
    worktreePath: Type.Optional(
      pathParameter("Exact path of a linked worktree, as list_worktrees shows it. Default: the current one."),
    ),
  },
  { additionalProperties: false },
);

interface Place {
  readonly worktreePath: WorktreePath;
  readonly branch: BranchName;
}

export interface Committed extends Place {
  readonly outcome: "committed";
  readonly commit: Oid;
  readonly parent: Oid;
  readonly changes: PathList & { readonly added: number; readonly deleted: number };
  /** Repositories of their own inside the worktree: they are in no commit. */
  readonly leftOut: PathList;
}

export interface Unchanged extends Place {
  readonly outcome: "unchanged";
  readonly head: Oid;
}

export type CommitIterationDetails = Committed | Unchanged;

export const commitIterationTool = (deps: ToolDeps) =>
  agentTool<typeof Parameters, CommitIterationDetails>(deps, {
    name: "commit_iteration",
    label: "Commit iteration",
    description:
      "Commit everything in a linked worktree, untracked files included and ignored ones not, as one commit with the " +
      "user's hooks and identity. Reports unchanged when there is nothing to commit. Refuses the main worktree.",
    promptSnippet: "Commit everything in a linked git worktree as one commit",
    promptGuidelines: [
      "Use commit_iteration when a step of work in a linked worktree is complete; it never commits the main worktree.",
    ],
    parameters: Parameters,
    executionMode: "sequential",
    run: (call, params) => exclusively(call, () => commit(call, params)),
  });

async function commit(
  call: Call,
  params: Static<typeof Parameters>,
): Promise<Answer<CommitIterationDetails> | Blocked> {
  const { repository } = call;
  const path = params.worktreePath ?? repository.topLevel;
  const worktree = (await worktrees(repository.git)).find((each) => each.path === path);
  const ready = readyPlace(call, worktree, path);
  if ("outcome" in ready) return ready;
  const { head, ...place } = ready;
  const born = await birthOf(repository, worktree);
  const staged = await stageIteration(repository, { worktree: place.worktreePath, branch: place.branch, born }, head);
  switch (staged.kind) {
    case "problem":
      return scratchBlocked(staged.problem);
    case "unchanged":
    case "committed-by-agent":
      return {
        details: { outcome: "unchanged", ...place, head: staged.tip },
        text: `Nothing to commit in ${name(place.worktreePath)}: ${place.branch} stays at ${staged.tip}.`,
      };
    case "staged": {
      const git = repository.at(place.worktreePath);
      const made = await commitIteration(git, messageOf(params)).catch(commitRefusal);
      return typeof made === "string" ? committed(place, made, staged) : made;
    }
  }
}

/** What a run's worktree was given: ignored files of the user's, which no commit may hold. */
async function birthOf(repository: Repository, worktree: Worktree | undefined): Promise<Birth | undefined> {
  const id = worktree && owningRun(worktree);
  if (id === undefined) return undefined;
  return (await knownRuns(repository)).runs.find(({ run }) => run.id === id)?.run.born;
}

/** The linked worktree to commit in, on a branch with a tip, and nobody else's. */
function readyPlace(
  { activeRun }: Call,
  worktree: Worktree | undefined,
  path: string | undefined,
): (Place & { readonly head: Oid }) | Blocked {
  if (worktree === undefined) {
    const shown = name(path ?? "The current directory");
    const next = "Give the exact path of a linked worktree, as list_worktrees shows it.";
    return blocked("not-a-worktree", `${shown} is not a worktree of this repository.`, next);
  }
  const shown = name(worktree.path);
  if (worktree.main) {
    const next = "Create a linked worktree with create_worktree and work there, or let a person commit here.";
    return blocked("main-worktree", `${shown} is the main worktree, which is the user's to commit.`, next);
  }
  const run = owningRun(worktree);
  if (run !== undefined && activeRun?.worktree !== worktree.path) {
    return blocked("owned-by-run", `${shown} belongs to run ${run}.`, "Leave it to the run.");
  }
  const branch = worktree.branch === undefined ? undefined : refBranch(worktree.branch);
  if (branch === undefined) {
    return blocked("detached-head", `${shown} has no branch checked out.`, "Switch it to a branch first.");
  }
  const { head, path: worktreePath } = worktree;
  if (head === undefined) return blocked("no-commit", `${shown} has no commit yet.`, "Make a first commit.");
  return { worktreePath, branch, head };
}

function messageOf({ subject, body = "" }: Static<typeof Parameters>): string {
  return body.trim() === "" ? `${subject}\n` : `${subject}\n\n${body.trim()}\n`;
}

function committed(
  place: Place,
  made: Oid,
  { tip, stats, leftOut }: { tip: Oid; stats: readonly FileStat[]; leftOut: readonly LeftOut[] },
): Answer<Committed> {
  const added = stats.reduce((sum, { lines }) => sum + (lines?.added ?? 0), 0);
  const deleted = stats.reduce((sum, { lines }) => sum + (lines?.deleted ?? 0), 0);
  const changes = { ...boundedPaths(stats.map(({ path }) => path)), added, deleted };
  const left = leftOut.map(({ path }) => path);
  const leftText =
    left.length === 0
      ? ""
      : `\nNot committed: repositories of their own, over the size limit, or copies of files that the user's checkout ignores:\n${pathLines(left)}`;
  return {
    details: { outcome: "committed", ...place, commit: made, parent: tip, changes, leftOut: boundedPaths(left) },
    text: `Committed ${plural(stats.length, "file")} (+${added} -${deleted}) on ${place.branch} as ${made}.${leftText}`,
  };
}

function scratchBlocked(problem: ScratchProblem): Blocked {
  const next = "Look at it with list_worktrees, then call again.";
  switch (problem.kind) {
    case "worktree-gone":
      return blocked(problem.kind, `${name(problem.worktree)} is not there any more.`, next);
    case "left-branch":
      return blocked(problem.kind, `The worktree was switched to ${foreign(problem.found)} meanwhile.`, next);
    case "history-rewritten":
      return blocked(problem.kind, `The branch was moved from ${problem.lastTip} to ${problem.found} meanwhile.`, next);
    case "operation":
      return blocked(
        "operation",
        `A ${problem.operation} is in progress there.`,
        "Finish or abort it there, then call again.",
      );
  }
}

/** What the user's hooks and keys refuse. The work is staged then, and otherwise as it was. */
function commitRefusal(error: unknown): Blocked {
  if (!(error instanceof GitError)) throw error;
  const { stderr: output, exit } = error.command;
  const safe = "There is no commit; the work is staged in that worktree, nothing is lost.";
  if (error.kind === "hook-rejected") {
    return blocked(
      error.kind,
      `A commit hook rejected it. ${safe}`,
      "Mend what the hook complains about, then call again.",
      { output },
    );
  }
  if (error.kind === "signing-failed") {
    return blocked(
      error.kind,
      `The commit could not be signed. ${safe}`,
      "A person mends the signing set-up, then call again.",
      { output },
    );
  }
  if (exit.kind === "timed-out") {
    const message = `git commit did not end within ${exit.afterMs / 1000} s, so it was stopped with its hooks. ${safe}`;
    return blocked("timed-out", message, "A person looks at the commit hooks.", { output });
  }
  throw error;
}
