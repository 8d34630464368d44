import type { Git } from "./git.ts";

/** Writes the files that the index has and the working tree has not; what is there stays as it is. */
export async function checkOutMissing(git: Git): Promise<void> {
  await git(["checkout-index", "--all", "--index", "--quiet"], { okCodes: [0, 1] });
}
