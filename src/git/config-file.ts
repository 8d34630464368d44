import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitIn } from "./git.ts";

/**
 * Settings of a configuration file by its content, as `key\nvalue`, keys in git's own spelling. Nothing that it
 * includes is read, and git runs outside of any repository: the content is not trusted.
 *
 * @throws {GitError} `failed` when git cannot read it.
 */
export async function settingsOf(content: Buffer | undefined, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (content === undefined) return [];
  const folder = await mkdtemp(join(tmpdir(), "ultratree-config-"));
  try {
    const file = join(folder, "config");
    await writeFile(file, content);
    const git = gitIn(folder, { env: { ...env, GIT_CEILING_DIRECTORIES: folder } });
    return (await git(["config", "--file", file, "--no-includes", "--list", "-z"])).records();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
