import type { Git } from "./git.ts";

/**
 * Boolean settings among `keys` that are set, as git itself reads them.
 *
 * @param keys exact names in lower case.
 * @throws {GitError} `failed` when a value is not a boolean.
 */
export async function booleanSettings(git: Git, keys: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  const pattern = `^(${keys.map((key) => key.replaceAll(".", "\\.")).join("|")})$`;
  const output = await git(["config", "-z", "--type=bool", "--get-regexp", pattern], { okCodes: [0, 1] });
  const settings = new Map<string, boolean>();
  for (const record of output.text().split("\0").slice(0, -1)) {
    const [key = "", value] = record.split("\n", 2);
    settings.set(key, value === "true"); // the last one wins, as in git
  }
  return settings;
}

/** Names and values of the settings that `pattern` (a POSIX regular expression over the key) matches. */
export async function settingsMatching(git: Git, pattern: string): Promise<(readonly [key: string, value: string])[]> {
  const output = await git(["config", "-z", "--get-regexp", pattern], { okCodes: [0, 1] });
  const records = output.text().split("\0").slice(0, -1);
  return records.map((record) => {
    const newline = record.indexOf("\n"); // a key without a value has none
    return newline < 0 ? [record, ""] : [record.slice(0, newline), record.slice(newline + 1)];
  });
}
