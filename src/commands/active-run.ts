import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { redirectPrompt } from "../host/prompt-cwd.ts";
import { type Redirection, redirectTools } from "../host/redirect-tools.ts";
import { type SessionAgent, watchTurns } from "../host/turns.ts";
import { redirectedCwd } from "../isolation/redirect.ts";
import type { Ground } from "../run/preflight.ts";
import type { RunIdentity } from "../run/record.ts";
import type { Interruption } from "../run/stop.ts";

type UserContent = Parameters<ExtensionAPI["sendUserMessage"]>[0];

/** The one run that a session can have, from its first step to its summary. */
export interface ActiveRun {
  /** Aborts, with an {@link Interruption} as its reason, when the user steps in before the first iteration. */
  readonly preparing: AbortSignal;
  /** The agent's tools act in the run's worktree from now on. */
  enter(ground: Ground, run: RunIdentity, allowTools: readonly string[]): SessionAgent;
  /** The agent's tools act in the user's checkout again. */
  leave(): void;
  interrupt(by: Interruption): void;
  /** The run is over; gives back what the user typed meanwhile. */
  close(): readonly UserContent[];
}

export interface ActiveRuns {
  /** `undefined` while another run of this session goes on. */
  open(ctx: ExtensionContext): ActiveRun | undefined;
  /** The run whose worktree the agent's tools act in. */
  entered(): RunIdentity | undefined;
}

/** Registers, once, what a run needs of the host's events. */
export function watchRuns(pi: ExtensionAPI, ownTools: ReadonlySet<string>): ActiveRuns {
  let active: (ActiveRun & { sessionEnded(): void; typed: UserContent[] }) | undefined;
  let entered: { run: RunIdentity; redirection: Redirection } | undefined;
  const turns = watchTurns(pi);
  redirectTools(pi, () => entered?.redirection, ownTools);
  redirectPrompt(pi, () => entered && redirectedCwd(entered.redirection.redirect));

  pi.on("input", ({ text, images, source }) => {
    if (active === undefined || source === "extension") return undefined;
    // Held back until the run has let go: the message is about the user's own checkout again.
    active.typed.push(images === undefined || images.length === 0 ? text : [{ type: "text", text }, ...images]);
    active.interrupt({ kind: "cancelled-by-user" });
    return { action: "handled" };
  });
  pi.on("session_shutdown", () => active?.sessionEnded());

  return {
    entered: () => entered?.run,
    open(ctx) {
      if (active !== undefined) return undefined;
      const preparing = new AbortController();
      const typed: UserContent[] = [];
      let session: SessionAgent | undefined;
      const run = {
        preparing: preparing.signal,
        typed,
        enter(ground: Ground, identity: RunIdentity, allowTools: readonly string[]) {
          entered = { run: identity, redirection: { redirect: redirectFor(ctx, ground, identity), allowTools } };
          session = turns.open(ctx);
          if (preparing.signal.aborted) session.interrupt(preparing.signal.reason as Interruption);
          return session;
        },
        leave() {
          entered = undefined;
        },
        interrupt(by: Interruption) {
          if (session === undefined) preparing.abort(by);
          else session.interrupt(by);
        },
        sessionEnded() {
          if (session === undefined) preparing.abort({ kind: "session-ended" } satisfies Interruption);
          else session.sessionEnded();
        },
        close() {
          entered = undefined;
          session?.close();
          active = undefined;
          return typed;
        },
      };
      active = run;
      return run;
    },
  };
}

function redirectFor({ cwd }: ExtensionContext, { checkout, repository }: Ground, { worktree }: RunIdentity) {
  const subdirectory = repository.prefix.replace(/\/$/, "");
  // The session may know its directory by a symbolic link; its top is as far up as the prefix is deep.
  const typed = subdirectory === "" ? cwd : join(cwd, ...subdirectory.split("/").map(() => ".."));
  return { mains: [...new Set<string>([checkout, typed])], worktree, subdirectory };
}
