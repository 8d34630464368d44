import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { violations } from "../../scripts/check-arrows.ts";

let root: string | undefined;
afterEach(() => root && rmSync(root, { recursive: true }));

/** Problems of a tree with these files, as `file:line`. */
function found(files: Readonly<Record<string, string>>): string[] {
  root = mkdtempSync(join(tmpdir(), "ultratree-arrows-"));
  for (const [file, text] of Object.entries({ "tools/x.ts": "", "src/git/a.ts": "", ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return violations(root).map(({ file, line }) => `${file}:${line}`);
}

test("the project's own imports all point one way", () => {
  expect(violations(fileURLToPath(new URL("../..", import.meta.url)))).toEqual([]);
});

test.each([
  ["a layer above", "src/git/a.ts", 'import { x } from "../landing/x.ts";'],
  ["a type of a layer above", "src/journal/a.ts", 'import type { X } from "../run/x.ts";'],
  ["a layer above, late", "src/landing/a.ts", 'const { x } = await import("../commands/x.ts");'],
  ["the host below the commands", "src/run/a.ts", 'import type { X } from "@mariozechner/pi-ai";'],
  ["the host by its new name", "src/landing/a.ts", 'export * from "@earendil-works/pi-tui";'],
  ["a process outside src/process", "src/worktree/a.ts", 'import { spawn } from "node:child_process";'],
  ["naming below runs", "src/worktree/a.ts", 'import { redact } from "../naming/bounds.ts";'],
  ["a folder without a layer", "src/elsewhere/a.ts", 'import { x } from "../git/a.ts";'],
])("finds an import of %s", (_what, file, line) => {
  expect(found({ [file]: `// one\n${line}\n` })).toEqual([`${file}:2`]);
});

test("lets pass what points down or sideways", () => {
  const files = {
    "src/extension.ts": 'import "./commands/x.ts";\nimport type { X } from "@mariozechner/pi-coding-agent";',
    "tools/y.ts": 'import { redact } from "../src/naming/bounds.ts";\nimport { integrate } from "../src/landing/x.ts";',
    "src/run/a.ts": 'import { config } from "../config/config.ts";\nimport { x } from "../oracle/x.ts";',
    "src/process/a.ts": 'import { spawn } from "node:child_process";\nimport { x } from "./b.ts";',
  };
  expect(found(files)).toEqual([]);
});
