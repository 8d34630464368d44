import { GitError } from "../git/git-error.ts";
import type { StopReason } from "./state.ts";

/** A build that ended without a commit, for a reason that has a name of its own. */
export interface Refusal {
  readonly kind: "refused";
  readonly reason: StopReason;
}

/**
 * Turns the failures that a user's hooks and keys cause into reasons; everything else is thrown on.
 *
 * @param hooks those that had a say, named in the reason because git does not tell which one refused.
 */
export function buildRefusal(error: unknown, hooks: readonly string[] = []): Refusal {
  if (!(error instanceof GitError)) throw error;
  const output = error.command.stderr.trim();
  const hook = hooks.join(" or ");
  if (error.kind === "signing-failed") return { kind: "refused", reason: { kind: "signing-failed", output } };
  if (error.kind === "hook-rejected") return { kind: "refused", reason: { kind: "hook-rejected", hook, output } };
  if (error.command.exit.kind === "timed-out" && hooks.length > 0) {
    return { kind: "refused", reason: { kind: "hook-rejected", hook, output: `${error.message}\n${output}`.trim() } };
  }
  throw error;
}
