import { readFile } from "node:fs/promises";
import { runProcess } from "./run-process.ts";

/**
 * When process `pid` began, as the system prints it, or `undefined` when there is no such process.
 *
 * Together with the pid it names a process for good: pids are used again. Linux: field 22 of
 * `/proc/<pid>/stat` (proc(5)), in clock ticks since boot; elsewhere `ps -o lstart=`.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform !== "linux") return startByPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  });
  if (stat === undefined) return undefined;
  const afterName = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name may hold spaces and parentheses
  const [state] = afterName;
  return state === "Z" || state === "X" ? undefined : afterName[19];
}

async function startByPs(pid: number): Promise<string | undefined> {
  const options = {
    cwd: "/",
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    timeoutMs: 5_000,
    outputLimitBytes: 4096,
  };
  const { stdout } = await runProcess("ps", ["-o", "lstart=", "-p", String(pid)], options);
  const text = stdout.toString("utf8").trim();
  return text === "" ? undefined : text;
}
