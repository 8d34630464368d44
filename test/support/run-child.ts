import { scriptedRun } from "./scripted-run.ts";

/** A whole scripted run in a process of its own, for tests that kill it. Arguments: directory, passes, check, set-up. */
const [cwd = "", passes = "[]", check = "", setup = ""] = process.argv.slice(2);
const limited = (command: string) => (command === "" ? undefined : { command, timeoutMs: 60_000 });
const checked = limited(check);
const options = {
  ...(checked && { check: checked }),
  wishes: { include: ["*.env"], setup: limited(setup) },
};
const { result } = await scriptedRun({ cwd, env: process.env, passes: JSON.parse(passes) as string[], options });
process.stdout.write(JSON.stringify(result));
