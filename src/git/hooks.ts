import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";

/** Those of `names` that git would run. A file that is not executable is skipped, as git skips it. */
export async function hooksPresent<Name extends string>(folder: string, names: readonly Name[]): Promise<Name[]> {
  const present = await Promise.all(names.map((name) => isExecutable(join(folder, name))));
  return names.filter((_, index) => present[index]);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
