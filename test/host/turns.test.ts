import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Message } from "../../src/host/message.ts";
import type { TurnHost } from "../../src/host/session-agent.ts";
import { Turns } from "../../src/host/turns.ts";
import type { TurnEnd } from "../../src/run/agent.ts";

/** A host whose state the test sets. */
class FakeHost implements TurnHost {
  readonly awaits: boolean;
  readonly sent: string[] = [];
  readonly abandoned: string[] = [];
  aborts = 0;
  idle = true;
  due = false;

  constructor(name: "legacy" | "current") {
    this.awaits = name === "current";
  }
  send(message: string): void {
    this.sent.push(message);
  }
  abort(): void {
    this.aborts++;
  }
  isIdle(): boolean {
    return this.idle;
  }
  retryWaitMs(failures: number): number {
    return failures <= 2 ? failures * 1_000 : 0;
  }
  compactionDue(): boolean {
    return this.due;
  }
  abandon(message: string): void {
    this.abandoned.push(message);
  }
}

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const answer = (stopReason = "stop"): Message => ({ role: "assistant", stopReason });
const providerError: Message = { role: "assistant", stopReason: "error", errorMessage: "503" };

function start(name: "legacy" | "current") {
  const host = new FakeHost(name);
  const turns = new Turns(host);
  const ends: TurnEnd[] = [];
  const turn = (message: string) => void turns.turn(message).then((end) => ends.push(end));
  /** The host takes the message and begins to work on it. */
  const begin = (message: string) => {
    host.idle = false;
    turns.agentStarted();
    turns.messageStarted(user(message));
  };
  /** The agent ends; what the host does next is the test's. */
  const finish = (...messages: Message[]) => {
    if (name === "legacy") host.idle = true;
    return turns.agentEnded(messages);
  };
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { host, turns, ends, turn, begin, finish, pass };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0); // a clock that goes on would act in a session that is not the run's any more
  vi.useRealTimers();
});

describe.each(["legacy", "current"] as const)("on the %s host", (name) => {
  test("a message waits for the host to be idle, and is sent once", async () => {
    const { host, turns, turn, pass } = start(name);
    host.idle = false;
    turn("task");
    await pass(1_000);
    expect(host.sent).toEqual([]);

    host.idle = true;
    await pass(1_000);
    expect(host.sent).toEqual(["task"]);
    turns.close();
  });

  test("a message is not sent while the host compacts", async () => {
    const { host, turns, turn, pass } = start(name);
    turns.compacting(true);
    turn("review");
    await pass(60_000);
    expect(host.sent).toEqual([]);

    turns.compacting(false);
    await pass(50);
    expect(host.sent).toEqual(["review"]);
    turns.close();
  });

  test("an interruption before the message is sent sends nothing", async () => {
    const { host, turns, turn, ends, pass } = start(name);
    host.idle = false;
    turn("task");
    turns.interrupt({ kind: "cancelled-by-user" });
    host.idle = true;
    await pass(1_000);

    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "cancelled-by-user" } }]);
    expect(host.sent).toEqual([]);
  });

  test("an interruption before the first turn sends nothing", async () => {
    const { host, turns, turn, ends, pass } = start(name);
    turns.interrupt({ kind: "cancelled-by-interrupt" });
    turn("task");
    await pass(1_000);

    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "cancelled-by-interrupt" } }]);
    expect(host.sent).toEqual([]);
  });

  test("an interruption between sending and beginning aborts the turn when it begins", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start(name);
    turn("task");
    turns.interrupt({ kind: "cancelled-by-user" });
    expect(host.aborts).toBe(0);

    begin("task");
    expect(host.aborts).toBe(1);
    finish(answer("aborted"));
    await pass(0);
    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "cancelled-by-user" } }]);
  });

  test("a message that never begins fails the turn, and must not begin later", async () => {
    const { host, turn, ends, pass } = start(name);
    turn("task");
    await pass(31_000);
    expect(ends).toMatchObject([{ kind: "failed" }]);
    expect(host.abandoned).toEqual(["task"]);
  });

  test("a run that closes before its message has begun gives it up", () => {
    const { host, turns, turn } = start(name);
    turn("task");
    turns.close();
    expect(host.abandoned).toEqual(["task"]);
  });

  test("the work of others is not taken for the turn's", async () => {
    const { turns, turn, ends, begin, finish, pass } = start(name);
    turn("task");
    begin("a message of another extension");
    finish(answer());
    await pass(1_000);
    expect(ends).toEqual([]);
    turns.close();
  });

  test("the session's end interrupts, at once and for good", async () => {
    const { turns, turn, ends, begin, pass } = start(name);
    turn("task");
    begin("task");
    turns.sessionEnded();
    await pass(0);
    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "session-ended" } }]);

    turn("review");
    await pass(0);
    expect(ends.at(-1)).toEqual({ kind: "interrupted", by: { kind: "session-ended" } });
  });

  test("an error that the host retries does not end the turn", async () => {
    const { turns, turn, ends, begin, finish, pass } = start(name);
    turn("task");
    begin("task");
    for (let attempt = 1; attempt <= 2; attempt++) {
      finish(providerError);
      await pass(900);
      turns.agentStarted();
    }
    finish(answer());
    await pass(100);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    turns.close();
  });

  test("an interruption during the wait before a retry ends the turn", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start(name);
    turn("task");
    begin("task");
    finish(providerError);
    turns.interrupt({ kind: "cancelled-by-interrupt" });
    expect(host.aborts).toBe(1);
    if (name === "current") turns.settled(true);
    await pass(0);
    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "cancelled-by-interrupt" } }]);
  });
});

describe("on the legacy host, which tells less", () => {
  test("errors are counted in a row: an answer in between starts a new one", async () => {
    const { turns, turn, ends, begin, finish, pass } = start("legacy");
    turn("task");
    begin("task");
    for (let row = 1; row <= 3; row++) {
      finish(answer("toolUse"), providerError);
      await pass(900);
      turns.agentStarted();
    }
    finish(answer());
    await pass(100);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    turns.close();
  });

  test("an error that is not retried fails the turn, and aborts what the host may still plan", async () => {
    const { host, turn, ends, begin, finish, pass } = start("legacy");
    turn("task");
    begin("task");
    finish(providerError);
    await pass(1_100);
    expect(ends).toEqual([{ kind: "failed", message: "503" }]);
    expect(host.aborts).toBe(1);
  });

  test("a compaction that is due is waited for, and so is what the host does after it", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start("legacy");
    host.due = true;
    turn("task");
    begin("task");
    finish(answer());
    await pass(2_000); // credentials
    turns.compacting(true);
    await pass(60_000);
    turns.compacting(false);
    await pass(100);
    expect(ends).toEqual([]);

    turns.agentStarted(); // the host sends the last request again
    finish(answer());
    host.due = false;
    turns.compacting(true);
    turns.compacting(false);
    await pass(1_000);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    turns.close();
  });

  test("a compaction that fails without a word is waited for no longer than a compaction may take", async () => {
    const { turns, turn, ends, begin, finish, pass } = start("legacy");
    turn("task");
    begin("task");
    finish(answer());
    turns.compacting(true);
    await pass(6 * 60_000);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    turns.close();
  });

  test("the user's own /compact in the middle of a turn ends it", async () => {
    const { turns, turn, ends, begin, pass } = start("legacy");
    turn("task");
    begin("task");
    turns.compacting(true);
    await pass(0);
    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "cancelled-by-interrupt" } }]);
  });

  test("a turn that the host has dropped does not last for ever", async () => {
    const { host, turn, ends, begin, pass } = start("legacy");
    turn("task");
    begin("task");
    host.idle = true;
    await pass(61_000);
    expect(ends).toMatchObject([{ kind: "interrupted" }]);
  });
});

describe("on the current host, which waits for its handlers", () => {
  test("it stays busy between two turns, and gets the next message when it has settled", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start("current");
    turn("task");
    begin("task");
    let letGo = false;
    void finish(answer())?.then(() => {
      letGo = true;
    });
    await pass(10_000);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    expect(letGo).toBe(false);

    turn("review");
    await pass(0);
    expect(letGo).toBe(true);
    expect(host.sent).toEqual(["task"]);
    host.idle = true;
    turns.settled(false);
    expect(host.sent).toEqual(["task", "review"]);
    turns.close();
  });

  test("an abort between two turns sends nothing more", async () => {
    const { host, turns, turn, ends, begin, pass } = start("current");
    turn("task");
    begin("task");
    const pressed = new AbortController();
    turns.agentEnded([answer()], pressed.signal);
    await pass(0);
    const [first] = ends;
    pressed.abort();
    await pass(100);
    expect(first?.kind === "completed" && first.gap.reason).toEqual({ kind: "cancelled-by-interrupt" });

    turn("review");
    host.idle = true;
    turns.settled(true);
    await pass(1_000);
    expect(ends.at(-1)).toEqual({ kind: "interrupted", by: { kind: "cancelled-by-interrupt" } });
    expect(host.sent).toEqual(["task"]);
  });

  test("an abort that the end of the session follows is that end, in a turn and between two", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start("current");
    turn("task");
    begin("task");
    finish(answer("aborted"));
    host.idle = true;
    turns.settled(true);
    await pass(10);
    turns.sessionEnded();
    await pass(0);
    expect(ends).toEqual([{ kind: "interrupted", by: { kind: "session-ended" } }]);

    const other = start("current");
    other.turn("task");
    other.begin("task");
    const pressed = new AbortController();
    const held = other.turns.agentEnded([answer()], pressed.signal);
    await pass(0);
    pressed.abort();
    await held; // the host goes on at once
    other.turns.sessionEnded();
    const [end] = other.ends;
    expect(end?.kind === "completed" && end.gap.reason).toEqual({ kind: "session-ended" });
  });

  test("an answer that was cut off is complete only when the host does not go on with it", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start("current");
    turn("task");
    begin("task");
    expect(finish(answer("length"))).toBeUndefined();
    await pass(10_000);
    expect(ends).toEqual([]);

    turns.agentStarted();
    finish(answer("length"));
    host.idle = true;
    turns.settled(false);
    await pass(0);
    expect(ends).toMatchObject([{ kind: "completed" }]);
    turns.close();
  });

  test("retries that are used up fail the turn", async () => {
    const { host, turns, turn, ends, begin, finish, pass } = start("current");
    turn("task");
    begin("task");
    finish(providerError);
    await pass(60_000);
    expect(ends).toEqual([]);
    host.idle = true;
    turns.settled(false);
    await pass(0);
    expect(ends).toEqual([{ kind: "failed", message: "503" }]);
  });
});
