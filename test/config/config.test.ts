import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError, configPath, loadConfig, saveConfig } from "../../src/config/config.ts";

let home: string;
let path: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ultratree-"));
  path = configPath(home);
});
afterEach(() => rmSync(home, { recursive: true }));

function write(text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const naming = { provider: "p", modelId: "m" };

describe("loadConfig", () => {
  test("is empty without a file, and creates none", async () => {
    expect(await loadConfig(path)).toEqual({});
    expect(existsSync(dirname(path))).toBe(false);
  });

  test("keeps keys that it does not know", async () => {
    write('{"naming":{"provider":"p","modelId":"m"},"future":[1]}');
    expect(await loadConfig(path)).toEqual({ naming, future: [1] });
  });

  test("takes what a worktree gets and where it goes", async () => {
    const config = { include: [".env"], setup: "npm ci", setupMinutes: 0.5, worktrees: "~/trees/{repo}/{slug}" };
    write(JSON.stringify(config));
    expect(await loadConfig(path)).toEqual(config);
  });

  test.each([
    ["{", "is not valid JSON"],
    ["", "is not valid JSON"],
    ["[]", "does not hold a JSON object"],
    ["null", "does not hold a JSON object"],
    ['{"max":0}', "/max"],
    ['{"land":"sideways"}', "/land"],
    ['{"naming":{"provider":"p"}}', "/naming"],
    ['{"allowTools":"mcp"}', "/allowTools"],
    ['{"include":".env"}', "/include"],
    ['{"setup":""}', "/setup"],
    ['{"setupMinutes":0}', "/setupMinutes"],
    ['{"worktrees":"../trees"}', "/worktrees"],
    ['{"worktrees":"{slug}/{branch}"}', "/worktrees"],
  ])("reports %j with the file and what to do, and leaves it alone", async (text, problem) => {
    write(text);
    const loading = loadConfig(path);
    await expect(loading).rejects.toThrow(ConfigError);
    await expect(loading).rejects.toThrow(path);
    await expect(loading).rejects.toThrow(problem);
    await expect(loading).rejects.toThrow(/[Cc]orrect.* it and start again; nothing was changed/);
    expect(readFileSync(path, "utf8")).toBe(text);
  });
});

describe("saveConfig", () => {
  test("makes the file", async () => {
    await saveConfig({ naming }, path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ naming });
  });

  test("touches no other key, known or not", async () => {
    write('{"max":2,"future":{"a":[1]},"naming":{"provider":"old","modelId":"old"}}');
    await saveConfig({ naming }, path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ max: 2, future: { a: [1] }, naming });
    expect(readdirSync(dirname(path))).toEqual(["ultrathink.json"]);
  });

  test("does not overwrite a file that does not parse", async () => {
    write('{"max": 2,');
    await expect(saveConfig({ naming }, path)).rejects.toThrow(ConfigError);
    expect(readFileSync(path, "utf8")).toBe('{"max": 2,');
  });

  test("leaves a symbolic link in place", async () => {
    const dotfile = join(home, "dotfile.json");
    writeFileSync(dotfile, '{"max":2}');
    mkdirSync(dirname(path));
    symlinkSync(dotfile, path);
    await saveConfig({ naming }, path);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(dotfile, "utf8"))).toEqual({ max: 2, naming });
  });

  test("lets a reader see the old or the new file, never half of one", async () => {
    write(JSON.stringify({ pad: "x".repeat(1_000_000) }));
    let reading = true;
    const read = (async () => {
      for (; reading; await new Promise(setImmediate)) JSON.parse(readFileSync(path, "utf8"));
    })();
    for (let max = 1; max <= 20; max++) await saveConfig({ max }, path);
    reading = false;
    await read;
    expect((await loadConfig(path)).max).toBe(20);
  });
});
