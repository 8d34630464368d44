import type { Git } from "./git.ts";
import type { Oid } from "./names.ts";

/** Whether `commit` carries a signature that the user's own set-up accepts. */
export async function signatureIsGood(git: Git, commit: Oid): Promise<boolean> {
  const output = await git(["verify-commit", commit], { okCodes: [0, 1, 128] });
  return output.code === 0;
}
