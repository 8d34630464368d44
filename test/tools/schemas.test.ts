import type { TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import { agentTools } from "../../tools/index.ts";

const tools = agentTools({ env: {}, activeRun: () => undefined });

/** Valid arguments of every tool, to be spoilt. */
const VALID: Readonly<Record<string, Record<string, unknown>>> = {
  list_worktrees: {},
  create_worktree: { worktreePath: "../x", branchName: "x", branchMode: "new", baseRef: "main" },
  commit_iteration: { subject: "s", body: "b", worktreePath: "/x" },
  integrate_branch: { sourceBranch: "a", targetBranch: "b", preview: true },
  remove_worktree: { worktreePath: "/x", deleteIgnored: false },
};

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  list_worktrees: [],
  create_worktree: ["worktreePath", "branchName", "branchMode"],
  commit_iteration: ["subject"],
  integrate_branch: ["sourceBranch", "targetBranch"],
  remove_worktree: ["worktreePath"],
};

describe.each(tools)("arguments of $name", ({ name, prepareArguments }) => {
  const valid = VALID[name] ?? {};
  const refused = (args: unknown) => expect(() => prepareArguments(args)).toThrow(/^Invalid arguments: /);

  test("pass unchanged when they are as described", () => {
    expect(prepareArguments(valid)).toBe(valid);
  });

  test("are refused when they are no object", () => {
    for (const args of [undefined, null, [], "x", 1]) refused(args);
  });

  test("are refused with a name that is not one of theirs", () => {
    expect(() => prepareArguments({ ...valid, force: true })).toThrow(/force/);
    refused(
      JSON.parse(
        `{"__proto__":1${Object.entries(valid)
          .map(([key, value]) => `,"${key}":${JSON.stringify(value)}`)
          .join("")}}`,
      ),
    );
  });

  test("are refused when a required one is missing", () => {
    for (const key of REQUIRED[name] ?? []) {
      const { [key]: _, ...rest } = valid;
      expect(() => prepareArguments(rest)).toThrow(key);
    }
  });

  test("are refused where a host would make something fit", () => {
    const misfits: Readonly<Record<string, readonly unknown[]>> = {
      string: [null, 1, true, ["x"], {}],
      boolean: [null, 0, 1, "true", ""],
    };
    for (const [key, value] of Object.entries(valid)) {
      for (const misfit of misfits[typeof value] ?? []) refused({ ...valid, [key]: misfit });
    }
  });

  test("are refused when they are empty or too long", () => {
    for (const [key, value] of Object.entries(valid)) {
      if (typeof value !== "string") continue;
      if (key !== "body") refused({ ...valid, [key]: "" });
      refused({ ...valid, [key]: "x".repeat(10_000) });
    }
  });
});

test("every object is closed and every string bounded", () => {
  for (const { parameters } of tools) expect(looseEnds(parameters)).toEqual([]);
});

function looseEnds(schema: TSchema, at = ""): string[] {
  const { type, properties = {}, additionalProperties, maxLength, enum: values } = schema as Record<string, unknown>;
  if (type === "object") {
    const inner = Object.entries(properties as Record<string, TSchema>);
    const open = additionalProperties === false ? [] : [`${at}/ is open`];
    return [...open, ...inner.flatMap(([key, each]) => looseEnds(each, `${at}/${key}`))];
  }
  return type === "string" && maxLength === undefined && values === undefined ? [`${at} is unbounded`] : [];
}

test("the declarations are short, and their guidelines name the tool", () => {
  for (const { name, promptSnippet, promptGuidelines } of tools) {
    expect(promptSnippet).not.toContain("\n");
    for (const guideline of promptGuidelines) expect(guideline).toContain(name);
  }
  const declared = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  expect(JSON.stringify(declared).length).toBeLessThan(4_000);
});
