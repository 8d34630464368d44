import type { Git } from "./git.ts";
import { type Oid, toOid } from "./names.ts";

/** Author or committer as git writes it: raw date, so that it can be given back unchanged. */
export interface Signature {
  readonly name: string;
  readonly email: string;
  /** `<epoch seconds> <zone>`. */
  readonly date: string;
}

export interface CommitContent {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly message: string;
  /** The user's own identity when absent. */
  readonly author?: Signature | undefined;
  /** Signs as `commit.gpgSign` asks; `commit-tree` itself does not read that setting. */
  readonly sign?: boolean;
}

/** Writes a commit object; no ref moves. @throws {GitError} `signing-failed`. */
export async function commitTree(git: Git, { tree, parents, message, author, sign }: CommitContent): Promise<Oid> {
  const flags = [...(sign ? ["-S"] : []), ...parents.flatMap((parent) => ["-p", parent])];
  const env =
    author === undefined
      ? {}
      : { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: `@${author.date}` };
  const output = await git(["commit-tree", ...flags, "-F", "-", tree], { stdin: message, env });
  return toOid(output.text().trim());
}
