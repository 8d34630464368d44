import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type DetectOptions, detectSandbox, type SandboxMode } from "../../src/isolation/detect-sandbox.ts";
import { sandboxSentence } from "../../src/ui/sandbox-sentence.ts";
import { type TestRepo, test } from "../support/repo.ts";

function options(repo: TestRepo, mode: SandboxMode, PATH = process.env["PATH"]): DetectOptions {
  const commonDir = join(repo.path, ".git");
  return { mode, network: true, checkout: repo.path, commonDir, env: { ...repo.env(), PATH } };
}

/** A folder for PATH with a `bwrap` that does `script`. */
function fakeBubblewrap(repo: TestRepo, script: string): string {
  const folder = join(repo.base, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  return folder;
}

async function sentence(options: DetectOptions, platform?: NodeJS.Platform): Promise<string> {
  const detected = await detectSandbox(options, platform);
  return detected.kind === "refused" ? detected.message : sandboxSentence(detected.sandbox);
}

describe("the sandbox", () => {
  test("is bubblewrap where it works", async ({ repo }) => {
    expect(await sentence(options(repo, "require"))).toBe("sandbox: bubblewrap");
    expect(await sentence({ ...options(repo, "auto"), network: false })).toBe("sandbox: bubblewrap (no network)");
  });

  test("says what it cannot cover in a repository with a reftable", async ({ repo }) => {
    mkdirSync(join(repo.path, ".git/reftable"));
    expect(await sentence(options(repo, "auto"))).toBe(
      "sandbox: bubblewrap (files only, as a reftable holds all references)",
    );
  });

  test("is not asked for when it is off", async ({ repo }) => {
    expect(await sentence(options(repo, "off", "/nowhere"))).toBe("no sandbox: file tools and shells are redirected");
  });

  test("that is missing is told, or ends the run before it begins", async ({ repo }) => {
    expect(await sentence(options(repo, "auto", "/nowhere"))).toBe(
      "no sandbox (bubblewrap is not installed): file tools and shells are redirected",
    );
    expect(await sentence(options(repo, "require", "/nowhere"))).toBe(
      "a sandbox is required by ~/.pi/ultrathink.json, but bubblewrap is not installed: nothing was started. " +
        'Next: install the Debian package bubblewrap, or set sandbox to "auto" there.',
    );
  });

  test("that cannot work, as in most containers, is told with its own words", async ({ repo }) => {
    const PATH = fakeBubblewrap(repo, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1');
    expect(await sentence(options(repo, "auto", PATH))).toBe(
      "no sandbox (bubblewrap does not work here (bwrap: No permissions to create new namespace)): file tools and shells are redirected",
    );
    expect(await sentence(options(repo, "require", PATH))).toMatch(
      /does not work here .*: nothing was started\. Next: allow unprivileged user namespaces/,
    );
  });

  test("that confines nothing is none", async ({ repo }) => {
    const PATH = fakeBubblewrap(repo, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
    expect(await sentence(options(repo, "auto", PATH))).toContain("what is read-only could be written");
  });

  test("does not exist on other systems", async ({ repo }) => {
    expect(await sentence(options(repo, "auto"), "win32")).toBe(
      "no sandbox (there is none for this system): file tools and shells are redirected",
    );
    expect(await sentence(options(repo, "require"), "win32")).toContain('Next: set sandbox to "auto" there.');
  });

  test("works for a checkout behind a symbolic link", async ({ repo }) => {
    const link = join(repo.base, "link");
    symlinkSync(repo.path, link);
    expect(await sentence({ ...options(repo, "require"), checkout: link })).toBe("sandbox: bubblewrap");
  });
});
