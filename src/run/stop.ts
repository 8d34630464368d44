/** Why a run ended. The first three land; the others preserve what there is. */
export type Stop =
  | { readonly kind: "no-git-changes" }
  | { readonly kind: "max-iterations" }
  | { readonly kind: "cancelled-by-user" }
  | { readonly kind: "cancelled-by-interrupt" }
  | { readonly kind: "naming-error"; readonly message: string }
  | { readonly kind: "git-error"; readonly message: string }
  | { readonly kind: "hook-rejected"; readonly output: string }
  | { readonly kind: "agent-error"; readonly message: string }
  | { readonly kind: "session-ended" };

/** Why an abort signal of a run fired; its `reason`. */
export type Interruption = Extract<Stop, { kind: "cancelled-by-user" | "cancelled-by-interrupt" | "session-ended" }>;

export function landsAfter(stop: Stop): boolean {
  return stop.kind === "no-git-changes" || stop.kind === "max-iterations";
}

/** For people: why the run ended, without a full stop. */
export function stopSentence(stop: Stop): string {
  switch (stop.kind) {
    case "no-git-changes":
      return "the last iteration changed nothing";
    case "max-iterations":
      return "the limit of iterations was reached";
    case "cancelled-by-user":
      return "cancelled: you sent a message of your own";
    case "cancelled-by-interrupt":
      return "cancelled: you interrupted it";
    case "naming-error":
      return `the naming model failed: ${stop.message}`;
    case "git-error":
      return stop.message;
    case "hook-rejected":
      return `a commit hook rejected the work: ${stop.output}`;
    case "agent-error":
      return `the agent failed: ${stop.message}`;
    case "session-ended":
      return "the session ended";
  }
}
