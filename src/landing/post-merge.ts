import type { Git } from "../git/git.ts";
import { runHook } from "../git/hook-run.ts";
import { hooksPresent } from "../git/hooks.ts";
import { type StatusEntry, statusAndHead } from "../git/status.ts";
import type { Candidate, Note, Plan } from "./state.ts";

/** Runs the holder's post-merge hook, as after a `git merge`. What it does is told, and changes nothing about the landing. */
export async function postMerge(git: Git, { build, holderDirs }: Plan, candidate: Candidate): Promise<Note[]> {
  if (build === "undo" || holderDirs === undefined) return [];
  const { hooks } = holderDirs;
  const [hook] = await hooksPresent(hooks, ["post-merge"]);
  if (hook === undefined) return [];
  const before = new Set((await statusAndHead(git)).entries.map(identity));
  const { code, output } = await runHook(git, hook, [build === "squash" ? "1" : "0"]);
  const after = await statusAndHead(git);
  const notes: Note[] = [{ kind: "hooks-ran", hooks: [hook], folder: hooks }];
  if (code !== 0) notes.push({ kind: "hook-failed", hook, output });
  const appeared = after.entries.filter((entry) => !before.has(identity(entry))).map(({ path }) => path);
  if (appeared.length > 0) notes.push({ kind: "hook-dirtied", hook, paths: appeared });
  if (after.head !== undefined && after.head !== candidate.oid) {
    notes.push({ kind: "hook-moved-target", hook, to: after.head });
  }
  return notes;
}

function identity(entry: StatusEntry): string {
  return `${"xy" in entry ? entry.xy : entry.kind} ${entry.path}`;
}
