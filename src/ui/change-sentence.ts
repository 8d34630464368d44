import type { SharedChange } from "../isolation/changes.ts";
import { pathList, short } from "../landing/words.ts";

/** What has changed in the user's checkout or in the shared repository; `undefined` for what is told elsewhere. */
export function changeSentence(change: SharedChange, original: string): string | undefined {
  switch (change.kind) {
    case "files":
      return `files in your checkout: ${pathList(change.paths)}`;
    case "switched":
      return `your checkout went from ${change.from ?? "a detached HEAD"} to ${change.to ?? "a detached HEAD"}`;
    case "ref-added":
      return `${change.ref} is new, at ${short(change.to)}`;
    case "ref-moved":
      return `${change.ref === `refs/heads/${original}` ? original : change.ref} moved from ${short(change.from)} to ${short(change.to)}`;
    case "ref-deleted":
      return `${change.ref} is gone; it was ${short(change.from)}`;
    case "programs":
      return `${change.file} of the repository's git directory`;
  }
}
