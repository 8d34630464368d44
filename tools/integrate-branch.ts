import { type Static, Type } from "typebox";
import type { BranchName, Oid, WorktreePath } from "../src/git/names.ts";
import { backupRefs } from "../src/landing/backup-refs.ts";
import { type Branches, integrate, type Preview, previewIntegration } from "../src/landing/integrate.ts";
import type { Note, Outcome, StopReason } from "../src/landing/state.ts";
import { noteSentence } from "../src/landing/words.ts";
import { branchArgument, branchParameter, isBlocked } from "./arguments.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { stopReasonBlocked } from "./stop-reason.ts";
import { boundedPaths, type ForeignText, foreign, name, type PathList, pathLines } from "./text.ts";
import { type Answer, agentTool, type Call, exclusively, type ToolDeps } from "./tool.ts";

const Parameters = Type.Object(
  {
    sourceBranch: branchParameter("Local branch with the finished work."),
    targetBranch: branchParameter("Local branch that receives it, e.g. main."),
    preview: Type.Optional(
      Type.Boolean({ description: "Only say what would happen; nothing changes. Default: false." }),
    ),
  },
  { additionalProperties: false },
);

interface Integrated {
  readonly sourceBranch: BranchName;
  readonly targetBranch: BranchName;
  readonly preview: boolean;
}

export interface AlreadyIntegrated extends Integrated {
  readonly outcome: "already_integrated";
  readonly sourceHead: Oid;
  readonly targetHead: Oid;
  /** Not by its commits but by what they say: they were squashed or cherry-picked. */
  readonly equalTree: boolean;
}

export interface Moved extends Integrated {
  readonly outcome: "fast_forward" | "merge_commit";
  readonly sourceHead: Oid;
  readonly from: Oid;
  /** Where the target is now; `null` for the preview of a merge. */
  readonly to: Oid | null;
  /** The worktree that has the target checked out; its files follow. */
  readonly holder: WorktreePath | null;
  readonly notes: readonly ForeignText[];
  /** Paths that change; of a preview only. */
  readonly changes: PathList | null;
  /** References that keep what was replaced; `null` in a preview. */
  readonly backup: { readonly source: string; readonly target: string } | null;
}

export interface Conflict extends Integrated, PathList {
  readonly outcome: "conflict";
  /** git's names: `contents`, `rename/rename`, `modify/delete`, … */
  readonly types: readonly string[];
  readonly next: string;
}

export type IntegrateBranchDetails = AlreadyIntegrated | Moved | Conflict;

export const integrateBranchTool = (deps: ToolDeps) =>
  agentTool<typeof Parameters, IntegrateBranchDetails>(deps, {
    name: "integrate_branch",
    label: "Integrate branch",
    description:
      "Bring a finished local branch into a target branch: fast-forward, or a merge commit built off to the side. On a " +
      "conflict or refusal nothing has changed. Uncommitted files of the target's worktree are kept.",
    promptSnippet: "Fast-forward or merge a finished local branch into a target branch, or change nothing",
    promptGuidelines: [
      "Use integrate_branch, not git merge, to bring a finished branch into another; preview: true asks first.",
    ],
    parameters: Parameters,
    executionMode: "sequential",
    run: (call, params) => integrateBranches(deps, call, params),
  });

async function integrateBranches(
  { env }: ToolDeps,
  call: Call,
  { sourceBranch, targetBranch, preview = false }: Static<typeof Parameters>,
): Promise<Answer<IntegrateBranchDetails> | Blocked> {
  const source = branchArgument(sourceBranch);
  if (isBlocked(source)) return source;
  const target = branchArgument(targetBranch);
  if (isBlocked(target)) return target;
  const branches = { source, target };
  if (source === target) {
    return blocked("same-branch", `${source} cannot be brought into itself.`, "Name two different branches.");
  }
  const active = call.activeRun?.branch;
  if (active === source || active === target) {
    return blocked(
      "owned-by-run",
      "The run that is going on owns one of these branches.",
      "Leave it: a run lands by itself when it ends.",
    );
  }
  const { repository, signal } = call;
  if (preview) return previewAnswer(branches, await previewIntegration(repository, branches));
  const end = await exclusively(call, () => integrate({ repository, env, signal }, branches));
  if (end.step === "stopped") return stopped(branches, end.reason, false);
  return landed(branches, end.request.id, end.outcome, end.notes);
}

function landed(
  { source, target }: Branches,
  id: string,
  outcome: Outcome,
  notes: readonly Note[],
): Answer<IntegrateBranchDetails> {
  const common = { sourceBranch: source, targetBranch: target, preview: false };
  if (outcome.kind === "already-integrated") return alreadyIntegrated(common, outcome);
  const { sourceTip: sourceHead, from, to, holder = null } = outcome;
  const kind = outcome.kind === "fast-forward" ? "fast_forward" : "merge_commit";
  const words = notes.map((note) => foreign(noteSentence(note)));
  const backup = backupRefs(id);
  const where = holder === null ? "no worktree has it checked out" : `the files in ${name(holder)} follow`;
  const text = [
    `${kind === "fast_forward" ? `Fast-forwarded ${target} to ${source}` : `Merged ${source} into ${target}`}: ${from} → ${to}; ${where}.`,
    ...words.map((note) => `Note: ${note}`),
    `The old tip of ${target} is kept as ${backup.target}.`,
  ].join("\n");
  return {
    details: { outcome: kind, ...common, sourceHead, from, to, holder, notes: words, changes: null, backup },
    text,
  };
}

function previewAnswer(branches: Branches, preview: Preview): Answer<IntegrateBranchDetails> | Blocked {
  const { source, target } = branches;
  const common = { sourceBranch: source, targetBranch: target, preview: true };
  if (preview.kind === "stopped") return stopped(branches, preview.reason, true);
  if (preview.kind === "already-integrated") return alreadyIntegrated(common, preview);
  const { sourceTip: sourceHead, targetTip: from, holder = null, paths, notes } = preview;
  const kind = preview.kind === "fast-forward" ? "fast_forward" : "merge_commit";
  const to = kind === "fast_forward" ? sourceHead : null;
  const words = notes.map((note) => foreign(noteSentence(note)));
  const how = kind === "fast_forward" ? `fast-forward ${target} to ${sourceHead}` : `merge ${source} into ${target}`;
  const text = [
    `Preview, nothing changed: integrate_branch would ${how}, changing:`,
    pathLines(paths),
    ...words.map((note) => `Note: ${note}`),
    "Hooks of the repository have not been asked. Call without preview to do it.",
  ].join("\n");
  const details = { outcome: kind, ...common, sourceHead, from, to, holder, notes: words } as const;
  return { details: { ...details, changes: boundedPaths(paths), backup: null }, text };
}

function alreadyIntegrated(
  common: Integrated,
  { sourceTip, targetTip, equalTree }: { sourceTip: Oid; targetTip: Oid; equalTree: boolean },
): Answer<AlreadyIntegrated> {
  const why = equalTree ? "has the same changes already, by other commits" : "contains it already";
  return {
    details: { outcome: "already_integrated", ...common, sourceHead: sourceTip, targetHead: targetTip, equalTree },
    text: `Nothing to do: ${common.targetBranch} ${why}. No branch moved.`,
  };
}

function stopped({ source, target }: Branches, reason: StopReason, preview: boolean): Answer<Conflict> | Blocked {
  if (reason.kind !== "conflicted") return stopReasonBlocked(reason, { source, target });
  const next = `Merge ${target} into ${source} in a worktree of ${source}, resolve, commit, then call again.`;
  const drivers = reason.byDriver.map(
    ({ driver, paths }) => `Merge driver ${driver} was in charge of:\n${pathLines(paths)}`,
  );
  const details = {
    outcome: "conflict",
    sourceBranch: source,
    targetBranch: target,
    preview,
    types: reason.types,
    next,
  } as const;
  const text = [
    `Conflict (${reason.types.join(", ")}): ${target} and ${source} both change:`,
    pathLines(reason.paths),
    ...drivers,
    ...(reason.output === "" ? [] : [foreign(reason.output)]),
    "Nothing was changed: both branches, worktrees and files are as they were.",
    `Next: ${next}`,
  ].join("\n");
  return { details: { ...details, ...boundedPaths(reason.paths) }, text };
}
