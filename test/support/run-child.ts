import { scriptedRun } from "./scripted-run.ts";

/** A whole scripted run in a process of its own, for tests that kill it. Arguments: directory, passes, check. */
const [cwd = "", passes = "[]", check = ""] = process.argv.slice(2);
const options = check === "" ? {} : { check: { command: check, timeoutMs: 60_000 } };
const { result } = await scriptedRun({ cwd, env: process.env, passes: JSON.parse(passes) as string[], options });
process.stdout.write(JSON.stringify(result));
