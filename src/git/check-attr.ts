import type { Git } from "./git.ts";
import type { TreePath } from "./names.ts";

/** Value of attribute `name` for each of `paths` that has one; git-check-attr(1). */
export async function attributeValues(
  git: Git,
  name: string,
  paths: readonly TreePath[],
): Promise<ReadonlyMap<TreePath, string>> {
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const records = (await git(["check-attr", "-z", "--stdin", name], { stdin })).records();
  const values = new Map<TreePath, string>();
  for (let i = 0; i + 2 < records.length; i += 3) {
    const [path, , value] = records.slice(i, i + 3);
    if (path !== undefined && value !== undefined && value !== "unspecified") values.set(path, value);
  }
  return values;
}
