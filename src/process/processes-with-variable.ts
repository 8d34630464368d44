import { readdir, readFile } from "node:fs/promises";

/**
 * Running processes of this user that were started with the variable `name` set to `value`; none where the
 * system does not tell (only Linux has `/proc/<pid>/environ`, proc(5)).
 */
export async function processesWithVariable(name: string, value: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const wanted = `${name}=${value}`;
  const matches = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(unreadable);
      return environ?.split("\0").includes(wanted) === true;
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
