import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { pathBytes, type TreePath, treePath, type WorktreePath } from "../git/names.ts";

export interface CopiedLink {
  readonly from: WorktreePath;
  readonly to: WorktreePath;
  readonly path: TreePath;
  /** Where it leads, as it stands in the link. */
  readonly text: Buffer;
}

/**
 * Where the copy of a symbolic link has to lead, so that nobody gets from one worktree into the other by it: what
 * leads into `from`, under any name, leads to the same place in `to`; what leads elsewhere still leads there.
 */
export async function linkText(link: CopiedLink): Promise<Buffer> {
  const { path, text } = link;
  const [from, to, target] = [inBytes(link.from), inBytes(link.to), treePath(text)];
  const copied = dirname(join(to, path));
  const named = resolve(dirname(join(from, path)), target);
  const inside = below(named, from) ?? below(await realTarget(named), from);
  if (inside === undefined) return isAbsolute(target) ? text : pathBytes(named as TreePath);
  const wanted = join(to, inside);
  if (!isAbsolute(target) && resolve(copied, target) === wanted) return text;
  return pathBytes((isAbsolute(target) ? wanted : relative(copied, wanted) || ".") as TreePath);
}

/** Paths are bytes: here, as in a {@link TreePath}, one UTF-16 unit stands for each. */
function inBytes(path: string): string {
  return treePath(Buffer.from(path));
}

/** With links on the way followed, as far as there is something. */
async function realTarget(path: string): Promise<string> {
  const real = await realpath(pathBytes(path as TreePath), "buffer").catch(ifUnresolved);
  if (real !== undefined) return treePath(real);
  const parent = dirname(path);
  return parent === path ? path : join(await realTarget(parent), path.slice(parent.length));
}

function ifUnresolved(error: NodeJS.ErrnoException): undefined {
  if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"].includes(error.code ?? "")) return undefined;
  throw error;
}

function below(path: string, folder: string): string | undefined {
  if (path === folder) return "";
  return path.startsWith(`${folder}/`) ? path.slice(folder.length) : undefined;
}
