import type { Signature } from "./commit-tree.ts";
import type { Git } from "./git.ts";
import { type Oid, type RefName, toOid } from "./names.ts";

export interface Commit {
  readonly oid: Oid;
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Signature;
  readonly subject: string;
  /** Without the subject and the blank line after it; no newline at its ends. */
  readonly body: string;
  /** Subject and body as they stand in the commit. */
  readonly message: string;
}

const FORMAT = ["%H", "%T", "%P", "%an", "%ae", "%ad", "%s", "%b", "%B"].join("%x1f");

export interface LogOptions {
  /** Leaves out what merges have brought in; git-log(1), `--first-parent`. */
  readonly firstParent?: boolean;
}

/** Commits reachable from `to` and not from `from`, oldest first. `from` `undefined`: all of them. */
export async function commitsBetween(
  git: Git,
  from: Oid | undefined,
  to: Oid | RefName,
  { firstParent = false }: LogOptions = {},
): Promise<Commit[]> {
  const own = firstParent ? ["--first-parent"] : [];
  const flags = [...own, "--reverse", "--topo-order", "--date=raw", "--no-show-signature", "--encoding=UTF-8", "-z"];
  const range = from === undefined ? [to] : [to, `^${from}`];
  const output = await git(["log", ...flags, `--format=tformat:${FORMAT}`, ...range, "--"]);
  return output.text().split("\0").slice(0, -1).map(parseCommit);
}

function parseCommit(record: string): Commit {
  const [oid = "", tree = "", parents = "", name = "", email = "", date = "", subject = "", body = "", message] =
    record.split("\x1f");
  if (message === undefined) throw new SyntaxError(`unknown log record: ${JSON.stringify(record.slice(0, 200))}`);
  return {
    oid: toOid(oid),
    tree: toOid(tree),
    parents: parents === "" ? [] : parents.split(" ").map(toOid),
    author: { name, email, date },
    subject,
    body: body.trim(),
    message,
  };
}

export async function subjectOf(git: Git, commit: Oid): Promise<string> {
  return (await git(["log", "-1", "--format=%s", "--no-show-signature", commit, "--"])).text().trimEnd();
}
