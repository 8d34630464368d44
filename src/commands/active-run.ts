import { setTimeout as sleep } from "node:timers/promises";
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { redirectPrompt } from "../host/prompt-cwd.ts";
import { type Redirection, redirectTools } from "../host/redirect-tools.ts";
import type { SessionAgent } from "../host/session-agent.ts";
import { watchTurns } from "../host/watch-turns.ts";
import { redirectedCwd } from "../isolation/redirect.ts";
import type { RunIdentity } from "../run/record.ts";
import type { Interruption } from "../run/stop.ts";
import { joinContent, type UserContent, userContent } from "./user-content.ts";

/** The one run that a session can have, from the command to its summary. */
export interface ActiveRun {
  /** Aborts, with an {@link Interruption} as its reason, when the user steps in before the first iteration. */
  readonly preparing: AbortSignal;
  /** Whether the session has gone away: nobody is left to tell, and nothing of it may be used. */
  sessionHasEnded(): boolean;
  /** The agent's tools act in the run's worktree from now on. */
  enter(run: RunIdentity, redirection: Redirection): SessionAgent;
  /** The agent's tools act in the user's checkout again. */
  leave(): void;
  interrupt(by: Interruption): void;
  /** The run is over: lets the session go and hands it what the user typed meanwhile. */
  close(): Promise<void>;
}

export interface ActiveRuns {
  /** `undefined` while another run of this session goes on. */
  open(ctx: ExtensionContext): ActiveRun | undefined;
  /** The run whose worktree the agent's tools act in. */
  entered(): RunIdentity | undefined;
}

/** What the events of the host are about. */
interface Active extends ActiveRun {
  readonly typed: UserContent[];
  /** Resolves when the run is in order, or has taken too long. */
  endSession(): Promise<void>;
}

/** How long a session that goes away waits for its run, and a run that is over for its session to settle. */
const LIMIT_MS = 5_000;
const POLL_MS = 20;

/** Registers, once, what a run needs of the host's events. */
export function watchRuns(pi: ExtensionAPI, ownTools: ReadonlySet<string>): ActiveRuns {
  let active: Active | undefined;
  let entered: { readonly run: RunIdentity; readonly redirection: Redirection } | undefined;
  const turns = watchTurns(pi);
  redirectTools(pi, () => entered?.redirection, ownTools);
  redirectPrompt(pi, () => entered && redirectedCwd(entered.redirection.redirect));

  pi.on("input", ({ text, images, source }) => {
    if (active === undefined || source === "extension") return undefined;
    // Held back until the run has let go: the message is about the user's own checkout again.
    active.typed.push(userContent(text, images));
    active.interrupt({ kind: "cancelled-by-user" });
    return { action: "handled" };
  });
  pi.on("session_shutdown", () => active?.endSession());

  const open = (ctx: ExtensionContext): Active => {
    const preparing = new AbortController();
    const typed: UserContent[] = [];
    let session: SessionAgent | undefined;
    let ended = false;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    return {
      preparing: preparing.signal,
      typed,
      sessionHasEnded: () => ended,
      enter(run, redirection) {
        entered = { run, redirection };
        session = turns.open(ctx);
        if (preparing.signal.aborted) session.interrupt(preparing.signal.reason as Interruption);
        return session;
      },
      leave() {
        entered = undefined;
      },
      interrupt(by) {
        if (session === undefined) preparing.abort(by);
        else session.interrupt(by);
      },
      async endSession() {
        ended = true;
        if (session === undefined) preparing.abort({ kind: "session-ended" } satisfies Interruption);
        else session.sessionEnded();
        await Promise.race([finished, sleep(LIMIT_MS, undefined, { ref: false })]);
      },
      async close() {
        entered = undefined;
        session?.close();
        for (const limit = Date.now() + LIMIT_MS; !ended && !ctx.isIdle() && Date.now() < limit; ) await sleep(POLL_MS);
        active = undefined;
        finish();
        if (ended || typed.length === 0) return;
        // 1.6.0 can expand skills and templates in it, as it would have when it was typed.
        const options = { deliverAs: "followUp", expandPromptTemplates: true } as const;
        pi.sendUserMessage(joinContent(typed), options);
      },
    };
  };
  return {
    entered: () => entered?.run,
    open(ctx) {
      if (active !== undefined) return undefined;
      active = open(ctx);
      return active;
    },
  };
}
