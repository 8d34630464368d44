import { refTip } from "../git/for-each-ref.ts";
import { GitError } from "../git/git-error.ts";
import { commitsBetween, subjectOf } from "../git/log.ts";
import type { Oid, RefName } from "../git/names.ts";
import type { Repository } from "../git/repository.ts";
import { moveRefs } from "../git/update-ref.ts";
import type { SharedChange } from "../isolation/changes.ts";
import { backupRefs } from "../landing/backup-refs.ts";
import type { Complete, NamingError } from "../naming/ask.ts";
import { commitMessage, messageText } from "../naming/message.ts";
import type { Agent } from "./agent.ts";
import {
  commitIteration,
  type LeftOut,
  patchExcerpt,
  type ScratchProblem,
  settledTreeOf,
  stageIteration,
  statLines,
} from "./iteration.ts";
import type { Progress } from "./progress.ts";
import { hookMessage, operationMessage, reviewMessage } from "./prompts.ts";
import { type Proof, tamperedMessage } from "./proof.ts";
import type { Recorder, RunIdentity } from "./record.ts";
import type { Interruption, Stop } from "./stop.ts";

export interface LoopDeps {
  readonly repository: Repository;
  readonly run: RunIdentity;
  readonly agent: Agent;
  readonly complete: Complete;
  readonly record: Recorder;
  readonly progress: (progress: Progress) => void;
  /** Looks, after each iteration, at what is the user's alone. */
  readonly proof: Proof;
}

export interface LoopOptions {
  readonly max: number;
  readonly reviewInstructions: string;
}

export interface LoopEnd {
  readonly stop: Stop;
  readonly iterations: number;
  /** The scratch branch's tip, as last recorded. */
  readonly tip: Oid;
  /** Aborts when the user steps in while the run lands. */
  readonly gap?: AbortSignal | undefined;
  /** The first failure of the naming model; commits then carry a plain message that says so. */
  readonly namingFailure?: NamingError | undefined;
  readonly leftOut: readonly LeftOut[];
  /** What changed in the user's checkout and in the shared repository meanwhile, by whomever. */
  readonly observed: readonly SharedChange[];
}

/** Rejections of a commit hook that the agent is asked to mend, in a row. */
const HOOK_ATTEMPTS = 2;

/** Merges and the like that the agent left in the middle and is asked to end, in a row. */
const OPERATION_ATTEMPTS = 2;

/** Where the loop begins, or goes on after a check that failed. */
export interface LoopStart {
  readonly iteration: number;
  readonly tip: Oid;
  readonly message: string;
}

/** Work, commit, ask for another pass; until a pass changes nothing. */
export async function iterate(
  deps: LoopDeps,
  { max, reviewInstructions }: LoopOptions,
  start: LoopStart,
): Promise<LoopEnd> {
  const { repository, run, agent, record, progress, proof } = deps;
  let { tip, message, iteration } = start;
  let settledTree: Oid | undefined;
  let namingFailure: NamingError | undefined;
  let rejections = 0;
  let unfinished = 0;
  let gap: AbortSignal | undefined;
  const leftOut = new Map<string, LeftOut>();
  const observed: SharedChange[] = [];
  const stash = await stashTip(repository);
  const end = (stop: Stop): LoopEnd => {
    return { stop, iterations: iteration, tip, gap, namingFailure, leftOut: [...leftOut.values()], observed };
  };

  for (; ; iteration++) {
    progress({ type: "iteration-started", iteration, max, branch: run.branch });
    const turn = await agent.turn(message);
    if (turn.kind === "failed") return end({ kind: "agent-error", message: turn.message });
    if (turn.kind === "interrupted") return end(turn.by);
    gap = turn.gap;
    try {
      const verdict = await proof.look();
      if (verdict.kind === "tampered") return end({ kind: "git-error", message: tamperedMessage(verdict.findings) });
      observed.push(...verdict.observed);
      const result = await commitWork(deps, { lastTip: tip, settledTree, stash, iteration, gap });
      if (gap.aborted && result.kind !== "committed") return end(gap.reason as Interruption);
      switch (result.kind) {
        case "problem":
          if (result.problem.kind === "operation" && ++unfinished <= OPERATION_ATTEMPTS && iteration < max) {
            message = operationMessage(result.problem.operation);
            break;
          }
          return end({ kind: "git-error", message: problemSentence(result.problem) });
        case "rejected":
          progress({ type: "iteration-rejected", iteration });
          if (++rejections > HOOK_ATTEMPTS) return end({ kind: "hook-rejected", output: result.output });
          message = hookMessage(result.output);
          break;
        case "unchanged":
          progress({ type: "iteration-unchanged", iteration });
          return end({ kind: "no-git-changes" });
        case "committed":
          rejections = 0;
          unfinished = 0;
          tip = result.tip;
          namingFailure ??= result.namingFailure;
          for (const left of result.leftOut) leftOut.set(left.path, left);
          await keepReachable(repository, run, tip);
          await record({ type: "iteration", iteration, tip });
          progress({ type: "iteration-committed", iteration, tip, subject: result.subject, stats: result.stats });
          settledTree = await settledTreeOf(repository, run);
          message = reviewMessage(run.task, run.base, reviewInstructions);
      }
    } catch (error) {
      if (!gap.aborted && error instanceof GitError)
        return end({ kind: "git-error", message: `git failed: ${error.message}` });
      if (!gap.aborted) throw error;
    }
    if (gap.aborted) return end(gap.reason as Interruption);
    if (iteration >= max && rejections === 0 && unfinished === 0) return end({ kind: "max-iterations" });
  }
}

/** Whatever the agent does to the branch, no recorded commit gets lost. */
async function keepReachable({ git }: Repository, run: RunIdentity, tip: Oid): Promise<void> {
  await moveRefs(git, "ultrathink: iteration", [{ ref: backupRefs(run.id).tip, to: tip }]);
}

/** git names the branch that an entry was made on: `WIP on topic: …`, `On topic: …`; the user stashes as well. */
async function isStashOf({ git }: Repository, { branch }: RunIdentity, entry: Oid): Promise<boolean> {
  return (await subjectOf(git, entry)).toLowerCase().includes(`on ${branch}: `);
}

async function stashTip({ git }: Repository): Promise<Oid | undefined> {
  return (await refTip(git, "refs/stash" as RefName))?.oid;
}

type Problem =
  | ScratchProblem
  /** Work is in a stash entry that was not there when the run began; stash entries belong to all worktrees. */
  | { readonly kind: "stashed"; readonly entry: Oid };

type Committed =
  | { readonly kind: "problem"; readonly problem: Problem }
  | { readonly kind: "rejected"; readonly output: string }
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "committed";
      readonly tip: Oid;
      readonly subject: string;
      readonly stats: readonly { lines: { added: number; deleted: number } | undefined }[];
      readonly leftOut: readonly LeftOut[];
      readonly namingFailure?: NamingError | undefined;
    };

interface Before {
  readonly lastTip: Oid;
  readonly settledTree: Oid | undefined;
  /** Of `refs/stash`. */
  readonly stash: Oid | undefined;
  readonly iteration: number;
  readonly gap: AbortSignal;
}

async function commitWork(
  { repository: whole, run, complete, progress }: LoopDeps,
  { lastTip, settledTree, stash, iteration, gap }: Before,
): Promise<Committed> {
  const repository = whole.with({ signal: gap }); // a hook may take minutes
  const staged = await stageIteration(repository, run, lastTip, { settledTree });
  if (staged.kind === "problem") return staged;
  if (staged.kind === "unchanged") {
    const entry = await stashTip(repository);
    if (entry === undefined || entry === stash || !(await isStashOf(repository, run, entry))) return staged;
    return { kind: "problem", problem: { kind: "stashed", entry } };
  }
  if (staged.kind === "committed-by-agent") {
    const own = await commitsBetween(repository.git, lastTip, staged.tip);
    const subject = `by the agent: ${own.map((commit) => commit.subject).join("; ")}`;
    return { kind: "committed", tip: staged.tip, subject, stats: [], leftOut: [] };
  }
  const git = repository.at(run.worktree);
  progress({ type: "naming", iteration });
  const change = {
    task: run.task,
    iteration,
    stat: statLines(staged.stats),
    patch: await patchExcerpt(git, staged.tip, staged.tree, staged.stats),
  };
  const words = await commitMessage(complete, change, gap);
  try {
    const tip = await commitIteration(git, messageText(words));
    const { subject, failure: namingFailure } = words;
    return { kind: "committed", tip, subject, stats: staged.stats, leftOut: staged.leftOut, namingFailure };
  } catch (error) {
    if (error instanceof GitError && error.kind === "hook-rejected") {
      return { kind: "rejected", output: error.command.stderr.trim() };
    }
    throw error;
  }
}

function problemSentence(problem: Problem): string {
  switch (problem.kind) {
    case "worktree-gone":
      return `the worktree ${problem.worktree} is gone`;
    case "left-branch":
      return `the worktree is no longer on its branch but on ${problem.found}`;
    case "history-rewritten":
      return `the scratch branch no longer contains ${problem.lastTip}; it is at ${problem.found ?? "no commit"}`;
    case "operation":
      return `a ${problem.operation} is in progress in the worktree`;
    case "stashed":
      return `the iteration left work in a new stash entry (${problem.entry}), which is kept; git stash list shows it`;
  }
}
