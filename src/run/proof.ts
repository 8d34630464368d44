import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { settingsOf } from "../git/config-file.ts";
import { gitIn } from "../git/git.ts";
import { isAncestor } from "../git/merge-base.ts";
import type { Oid, RefName, WorktreePath } from "../git/names.ts";
import { reflogOids } from "../git/reflog.ts";
import type { Repository } from "../git/repository.ts";
import { programChanges, programSettings, type SharedChange, sharedChanges } from "../isolation/changes.ts";
import { fingerprint, programs } from "../isolation/fingerprint.ts";
import { quote } from "../isolation/redirect.ts";
import type { RunIdentity } from "./record.ts";

/** What a look at the user's checkout and the shared repository found, since the look before. */
export type Verdict =
  | { readonly kind: "sound"; readonly observed: readonly SharedChange[] }
  /** Nobody but the user may do that, and the user would not in the middle of a run: each with the way back. */
  | { readonly kind: "tampered"; readonly findings: readonly Finding[] };

export interface Finding {
  /** What was changed, with its old value. */
  readonly what: string;
  /** The command that puts it back. */
  readonly back: string;
}

export interface Proof {
  look(): Promise<Verdict>;
}

export interface ProofOptions {
  readonly repository: Repository;
  readonly checkout: WorktreePath;
  readonly run: RunIdentity;
  readonly env: NodeJS.ProcessEnv;
  /** A sandbox is in force: what changed was changed by the user, and is only told. */
  readonly sandboxed: boolean;
}

/** Remembers what the user's checkout and the shared repository are like; each look compares with the last. */
export async function beginProof(options: ProofOptions): Promise<Proof> {
  const { repository, checkout } = options;
  let last = await fingerprint(repository, checkout);
  return {
    async look() {
      // Files first, before git runs in the checkout again: it would run what they name.
      const changed = programChanges(last.programs, await programs(repository.commonDir));
      const found = options.sandboxed ? [] : await programFindings(options, changed);
      if (found.length > 0) return { kind: "tampered", findings: found };
      const now = await fingerprint(repository, checkout);
      const observed = sharedChanges(last, now, isOfARun);
      const gone = options.sandboxed ? [] : await refFindings(repository, observed);
      last = now;
      return gone.length > 0 ? { kind: "tampered", findings: gone } : { kind: "sound", observed };
    },
  };
}

/** This run's references, and those of runs that go on beside it. */
function isOfARun(ref: RefName): boolean {
  return ref.startsWith("refs/heads/ultrathink/") || ref.startsWith("refs/ultrathink/");
}

/** Changes that would have git run something else than before. */
async function programFindings(options: ProofOptions, changes: readonly SharedChange[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const change of changes) {
    if (change.kind !== "programs") continue;
    if (change.file === "config" || change.file === "config.worktree")
      findings.push(...(await configFindings(options, change)));
    else if (change.file.startsWith("hooks/") || change.file === "info/attributes")
      findings.push(await fileFinding(options, change));
  }
  return findings;
}

type ProgramChange = Extract<SharedChange, { kind: "programs" }>;

async function configFindings(
  { repository, env }: ProofOptions,
  { file, before, after }: ProgramChange,
): Promise<Finding[]> {
  const path = join(repository.commonDir, file);
  const [old, now] = [await settingsOf(before, env), await settingsOf(after, env)];
  if (now.includes("core.bare\ntrue") && !old.includes("core.bare\ntrue")) await healBare(path, env);
  return programSettings(old, now).map(({ key, before: was }) => {
    const command = `git config --file ${quote(path)}`;
    return was === undefined
      ? { what: `${key} was set in ${file}`, back: `${command} --unset-all ${quote(key)}` }
      : { what: `${key} was ${was} in ${file}`, back: `${command} --replace-all ${quote(key)} ${quote(was)}` };
  });
}

/** A `git init` with an inherited GIT_DIR marks the repository bare, and no git works in the checkout then. */
async function healBare(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  await gitIn(dirname(path), { env })(["config", "--file", path, "core.bare", "false"]);
}

/** The old content is put where a command can take it from. */
async function fileFinding({ repository, run }: ProofOptions, { file, before }: ProgramChange): Promise<Finding> {
  const path = join(repository.commonDir, file);
  if (before === undefined) return { what: `${file} was added`, back: `rm ${quote(path)}` };
  const kept = join(repository.commonDir, "ultrathink", "kept", run.id, file);
  await mkdir(dirname(kept), { recursive: true });
  await writeFile(kept, before, { mode: 0o755 });
  return { what: `${file} was changed or removed`, back: `cp -p ${quote(kept)} ${quote(path)}` };
}

/** References that lost something: what they pointed to is named, and stays until git prunes it. */
async function refFindings(repository: Repository, changes: readonly SharedChange[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const change of changes) {
    if (change.kind === "ref-deleted" && isTheUsers(change.ref) && !isRenamed(change, changes)) {
      findings.push({
        what: `${change.ref} was deleted; it was ${change.from}`,
        back: putBack(change.ref, change.from),
      });
    }
    if (change.kind === "ref-moved" && isTheUsers(change.ref) && !(await keeps(repository, change))) {
      const what = `${change.ref} was moved to ${change.to}; it was ${change.from}, which that does not contain`;
      findings.push({ what, back: putBack(change.ref, change.from) });
    }
  }
  return findings;
}

/** Another branch has appeared where it was: nothing is lost. */
function isRenamed({ from }: { readonly from: Oid }, changes: readonly SharedChange[]): boolean {
  return changes.some(
    (other) => other.kind === "ref-added" && other.ref.startsWith("refs/heads/") && other.to === from,
  );
}

/** Others come and go by themselves: a fetch moves what follows a remote, a rebase keeps notes of its own. */
function isTheUsers(ref: RefName): boolean {
  return ref.startsWith("refs/heads/") || ref.startsWith("refs/tags/") || ref === "refs/stash";
}

function putBack(ref: RefName, oid: Oid): string {
  return ref === "refs/stash" ? `git stash store ${oid}` : `git update-ref ${ref} ${oid}`;
}

/** Stash entries are in the reference's log, not in its ancestry. */
async function keeps(
  { git }: Repository,
  { ref, from, to }: Extract<SharedChange, { kind: "ref-moved" }>,
): Promise<boolean> {
  if (ref === "refs/stash") return (await reflogOids(git, ref)).includes(from);
  return isAncestor(git, from, to);
}

/** What the user is told when a run stops for it. */
export function tamperedMessage(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ what, back }) => [`  ${what}`, `    back: ${back}`]);
  return ["something changed what is yours alone, by a command of the agent or by you:", ...lines].join("\n");
}
