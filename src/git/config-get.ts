import type { Git } from "./git.ts";

export type Setting = readonly [key: string, value: string];

/**
 * Settings whose key matches `pattern` (a POSIX regular expression), as git itself reads them: booleans in any
 * spelling come as `true` and `false`. In order; the last of several counts.
 */
export async function settingsMatching(git: Git, pattern: string): Promise<Setting[]> {
  const output = await git(["config", "-z", "--type=bool-or-str", "--get-regexp", pattern], { okCodes: [0, 1] });
  return output.records().map((record) => {
    const newline = record.indexOf("\n"); // a key without a value has none
    return newline < 0 ? [record, "true"] : [record.slice(0, newline), record.slice(newline + 1)];
  });
}

/** Whether the last of `settings` named `key` (in lower case) is true. */
export function isTrue(settings: readonly Setting[], key: string): boolean {
  return settings.findLast(([name]) => name === key)?.[1] === "true";
}

/** The value of exactly `key`, the last of several; `undefined` when it is not set. */
export async function setting(git: Git, key: string): Promise<string | undefined> {
  const output = await git(["config", "-z", "--get", key], { okCodes: [0, 1] });
  return output.code === 0 ? output.text().slice(0, -1) : undefined;
}
