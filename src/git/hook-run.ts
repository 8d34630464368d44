import type { Git } from "./git.ts";

/** Runs one of the user's hooks as git does; exit codes are the hook's. Needs git 2.36. */
export async function runHook(
  git: Git,
  name: string,
  args: readonly string[],
): Promise<{ code: number; output: string }> {
  const output = await git(["hook", "run", "--ignore-missing", name, "--", ...args], {
    okCodes: Array.from({ length: 256 }, (_, code) => code),
  });
  // `git hook run` sends what the hook prints to standard error.
  return { code: output.code, output: output.stderr.trim() };
}
