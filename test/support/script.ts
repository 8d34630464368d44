/** What the models of a test say. Read anew for every request, so a test may rewrite it while Pi runs. */
export interface Script {
  /** One per user message that reaches the agent model, in order. Past the end it says `idle` and calls nothing. */
  passes: Pass[];
  /** The same for a session that is offered `oracle_accept`. Without it such a session takes from `passes`. */
  oracle?: Pass[];
  /** Replies to naming requests of each kind, in order; the last one repeats. */
  slugs?: Reply[];
  commits?: Reply[];
  merges?: Reply[];
  /** Reported for every request, in USD. Default 0. */
  cost?: number;
}

export interface Pass {
  /** One model request each: tool calls that are sent together. */
  steps?: ScriptedCall[][];
  /** Said after the last step. Default `Done.` */
  text?: string;
  /** Thinks `Scripted wait` for so long before saying `text`. An abort ends it at once. */
  slowMs?: number;
  /** Fails `times` requests of this pass, counted from the one that follows `afterSteps` steps (default 0). */
  error?: { message: string; times: number; afterSteps?: number };
}

export interface ScriptedCall {
  tool: string;
  arguments: Record<string, unknown>;
}

export type Reply = string | { error: string } | { delayMs: number; text: string };

export type NamingKind = "slug" | "commit" | "merge";

export type Answer =
  | { kind: "calls"; calls: ScriptedCall[] }
  | { kind: "text"; text: string; delayMs: number }
  | { kind: "error"; message: string };

/** A sequence of passes and how far it was played. */
export interface Lane {
  readonly seen: Set<string>;
  pass: number;
  step: number;
  errors: number;
}

export interface Progress {
  readonly agent: Lane;
  readonly oracle: Lane;
  readonly replies: Record<NamingKind, number>;
}

const PROGRESS = Symbol.for("ultratree.scripted-model");
const holder = globalThis as { [PROGRESS]?: Map<string, Progress> };

/** Kept on the process, by script file: a host loads its extensions anew for `/new` and `/reload`. */
export function progressOf(path: string): Progress {
  holder[PROGRESS] ??= new Map();
  const known = holder[PROGRESS].get(path);
  if (known) return known;
  const lane = (): Lane => ({ seen: new Set(), pass: -1, step: 0, errors: 0 });
  const fresh = { agent: lane(), oracle: lane(), replies: { slug: 0, commit: 0, merge: 0 } };
  holder[PROGRESS].set(path, fresh);
  return fresh;
}

/**
 * Moves `lane` to its next pass when the request ends in a user message that it has not seen.
 *
 * Counting user messages would not do: a compaction removes some, a retry sends the same one again.
 *
 * @param asked keys of the user messages after the last answer.
 */
export function startPass(lane: Lane, asked: readonly string[]): void {
  if (asked.every((key) => lane.seen.has(key))) return;
  for (const key of asked) lane.seen.add(key);
  lane.pass++;
  lane.step = 0;
  lane.errors = 0;
}

export function passAnswer(passes: readonly Pass[], lane: Lane): Answer {
  const pass = passes[lane.pass];
  if (!pass) return { kind: "text", text: "idle", delayMs: 0 };
  const { steps = [], text = "Done.", slowMs = 0, error } = pass;
  if (error && lane.step >= (error.afterSteps ?? 0) && lane.errors < error.times) {
    lane.errors++;
    return { kind: "error", message: error.message };
  }
  const calls = steps[lane.step];
  if (!calls) return { kind: "text", text, delayMs: slowMs };
  lane.step++;
  return { kind: "calls", calls };
}

export function namingAnswer(kind: NamingKind, script: Script, count: number): Answer {
  const replies = { slug: script.slugs, commit: script.commits, merge: script.merges }[kind] ?? [];
  const reply = replies[Math.min(count, replies.length) - 1] ?? defaultReply(kind, count);
  if (typeof reply === "string") return { kind: "text", text: reply, delayMs: 0 };
  if ("error" in reply) return { kind: "error", message: reply.error };
  return { kind: "text", ...reply };
}

function defaultReply(kind: NamingKind, count: number): string {
  switch (kind) {
    case "slug":
      return JSON.stringify({ slug: "scripted-run" });
    case "commit":
      return JSON.stringify({ subject: `Scripted commit ${count}`, body: `- body ${count}` });
    case "merge":
      return JSON.stringify({ subject: "Merge scripted work", body: "- merged" });
  }
}

/** Puts `main`, the user's checkout, in place of `$MAIN` in every string of `value`. */
export function substituted<T>(value: T, main: string): T {
  const replace = (item: unknown): unknown => {
    if (typeof item === "string") return item.replaceAll("$MAIN", () => main);
    if (Array.isArray(item)) return item.map(replace);
    if (typeof item !== "object" || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, replace(inner)]));
  };
  return replace(value) as T;
}
