import { readdir, readFile, readlink } from "node:fs/promises";

/**
 * Running processes named `name` whose working directory is `folder` or below; `undefined` where the system
 * does not tell (only Linux has `/proc`, proc(5)). Processes of other users are not seen.
 */
export async function processesIn(folder: string, name: string): Promise<number[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const matches = await Promise.all(
    pids.map(async (pid) => {
      const [cwd, comm] = await Promise.all([
        readlink(`/proc/${pid}/cwd`).catch(unreadable),
        readFile(`/proc/${pid}/comm`, "utf8").catch(unreadable),
      ]);
      return comm?.trim() === name && (cwd === folder || cwd?.startsWith(`${folder}/`) === true);
    }),
  );
  return pids.filter((_, index) => matches[index]);
}

/** It ended meanwhile, or is somebody else's. */
function unreadable(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ESRCH" || error.code === "EACCES" || error.code === "EPERM") {
    return undefined;
  }
  throw error;
}
