import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";
import { agentTools } from "../../tools/index.ts";
import { type Built, build, type Scenario, scenarios } from "./scenario.ts";

/** What the answer of a tool has to look like; the rest of it is free. */
export interface Expected {
  readonly outcome: string;
  readonly reason?: string;
  /** Must stand somewhere in the answer: in its details, or in the text that the model reads. */
  readonly says?: readonly (string | RegExp)[];
  /** Must stand nowhere in it. */
  readonly neverSays?: readonly string[];
  readonly paths?: readonly unknown[];
  readonly also?: (built: Built, details: Record<string, unknown>) => void | Promise<void>;
}

export interface Suite {
  /** Of the scenarios' file names. */
  readonly prefix: string;
  readonly tool: string;
  readonly expected: Readonly<Record<string, Expected>>;
  /** Outcomes after which what must hold on success has to hold. */
  readonly successes: readonly string[];
  /** Limit of one git command, where a scenario is about that. */
  readonly timeoutMs?: (name: string) => number | undefined;
  /** Why a scenario cannot be built on this machine; `undefined` where it can. */
  readonly missing?: (name: string) => string | undefined;
}

export function git(built: Built, ...args: string[]): string {
  return spawnSync("git", ["-C", built.cwd, ...args], { env: built.plainEnv, encoding: "utf8" }).stdout.trim();
}

export function blocked(reason: string, ...says: (string | RegExp)[]): Expected {
  return { outcome: "blocked", reason, says };
}

export async function callTool(
  built: Built,
  name: string,
  args: unknown,
  timeoutMs = 60_000,
): Promise<{ details: Record<string, unknown>; answer: string }> {
  const tool = agentTools({ env: built.env, activeRun: () => undefined, timeoutMs }).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const { details, content } = await tool.execute("call", args as never, undefined, undefined, { cwd: built.cwd });
  const answer = `${JSON.stringify(details)}\n${content.map(({ text }) => text).join("\n")}`;
  return { details: details as Record<string, unknown>, answer };
}

/** A test for each scenario, judged against its EXPECT text by way of `expected`. */
export function describeScenarios(suite: Suite): void {
  const { prefix, tool, expected, missing = () => undefined } = suite;
  const held: string[] = [];
  const notTried: string[] = [];
  afterAll(() => {
    const rest = notTried.length === 0 ? "" : `; not tried here: ${notTried.join(", ")}`;
    console.log(`scenarios of ${tool} held: ${held.length} of ${Object.keys(expected).length}${rest}`);
  });

  describe(`${tool} in a hostile repository`, () => {
    test("every scenario has its expectation", () => {
      expect(scenarios(prefix).map(({ name }) => name)).toEqual(Object.keys(expected));
    });

    for (const scenario of scenarios(prefix)) {
      const reason = missing(scenario.name);
      if (reason !== undefined) {
        notTried.push(`${scenario.name} (${reason})`);
        continue;
      }
      test(`${scenario.name}: ${scenario.about} → ${scenario.expect}`, async () => {
        const built = build(scenario);
        try {
          await judge(suite, scenario, built);
          held.push(scenario.name);
        } finally {
          built.remove();
        }
      });
    }
  });
}

async function judge({ expected: all, successes, timeoutMs }: Suite, { name, call }: Scenario, built: Built) {
  const { details, answer } = await callTool(built, call.tool, built.args, timeoutMs?.(name));
  const expected = all[name];
  expect({ outcome: details["outcome"], reason: details["reason"] }).toEqual({
    outcome: expected?.outcome,
    reason: expected?.reason,
  });
  for (const words of expected?.says ?? []) expect(answer).toMatch(words);
  for (const words of expected?.neverSays ?? []) expect(answer).not.toContain(words);
  if (expected?.paths) expect(details["paths"]).toEqual(expected.paths);
  await expected?.also?.(built, details);
  expect(await built.problems(successes.includes(expected?.outcome ?? "") ? "ok" : "fail")).toEqual([]);
}
