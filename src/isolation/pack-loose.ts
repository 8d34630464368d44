import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { GitError } from "../git/git-error.ts";
import { packObjects } from "../git/pack-objects.ts";
import type { Repository } from "../git/repository.ts";
import { ifAbsent } from "../git/tree-file.ts";

/** As many as git's own housekeeping takes at a time. */
const LIMIT = 50_000;

/**
 * Puts loose objects into a pack too. Commands of the agent must be able to add to the object store, so they could
 * remove from it as well; a pack can be protected, a folder that new loose objects go into cannot.
 *
 * Best effort: an object that is damaged or has just been removed stops git from packing any.
 */
export async function packLoose({ git, commonDir }: Repository): Promise<void> {
  const oids = await looseOids(join(commonDir, "objects"));
  if (oids.length === 0) return;
  await packObjects(git, join(commonDir, "objects/pack/pack"), oids.slice(0, LIMIT)).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
  });
}

async function looseOids(objects: string): Promise<string[]> {
  const folders = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = (await readdir(join(objects, folder)).catch(ifAbsent)) ?? [];
      return names.filter((name) => /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(name)).map((name) => folder + name);
    }),
  );
  return found.flat();
}
