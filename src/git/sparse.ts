import { isTrue, settingsMatching } from "./config-get.ts";
import type { Git } from "./git.ts";

/** Whether only some of the tree is checked out. A linked worktree inherits that from the one it is made from. */
export async function isSparse(git: Git): Promise<boolean> {
  return isTrue(await settingsMatching(git, "^core\\.sparsecheckout$"), "core.sparsecheckout");
}
