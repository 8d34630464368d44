import { LAND_MODES } from "../config/config.ts";

/** What can be asked for on the command line; each is a config key as well, unless it only makes sense once. */
export interface Flags {
  readonly max?: number;
  readonly land?: (typeof LAND_MODES)[number];
  readonly base?: string;
  readonly check?: string;
  readonly yes: boolean;
}

export type Arguments =
  | { readonly kind: "run"; readonly flags: Flags; readonly prompt: string }
  | { readonly kind: "help" }
  /** One sentence. */
  | { readonly kind: "invalid"; readonly problem: string };

interface Flag {
  readonly name: keyof Flags;
  /** `undefined` for a switch. */
  readonly value: string | undefined;
  readonly help: string;
}

export const FLAGS: readonly Flag[] = [
  { name: "max", value: "<n>", help: "iterations at the most (default 4)" },
  {
    name: "land",
    value: LAND_MODES.join("|"),
    help: "how the work lands (default auto: one commit is rebased, more are merged)",
  },
  { name: "base", value: "<rev>", help: "start from this commit instead of HEAD" },
  {
    name: "check",
    value: "<command>",
    help: "must succeed on the result before it lands; quote it: --check 'npm test'",
  },
  { name: "yes", value: undefined, help: "no dialogs" },
];

/** A value up to the next space, or in quotes. */
const VALUE = /^(?:"([^"]*)"|'([^']*)'|(\S+))(?=\s|$)/;

/** Flags come first; the rest, from the first word that is none or from `--`, is the prompt. */
export function parseArguments(text: string): Arguments {
  let rest = text.trim();
  const flags: Settable = { yes: false };
  while (rest.startsWith("--")) {
    const [word, name = ""] = /^--([^\s=]*)/.exec(rest) ?? [""];
    rest = rest.slice(word.length);
    const inline = rest.startsWith("=");
    rest = inline ? rest.slice(1) : rest.trimStart();
    if (name === "" && !inline) break;
    if (name === "help") return { kind: "help" };
    const flag = FLAGS.find((each) => each.name === name);
    if (flag === undefined) return { kind: "invalid", problem: `unknown flag --${name}.` };
    if (flag.value === undefined) {
      if (inline) return { kind: "invalid", problem: `--${name} takes no value.` };
      flags.yes = true;
      continue;
    }
    const [quoted = "", double, single, bare] = VALUE.exec(rest) ?? [];
    rest = rest.slice(quoted.length).trimStart();
    const problem = setFlag(flags, flag.name, double ?? single ?? bare ?? "");
    if (problem !== undefined) return { kind: "invalid", problem };
  }
  return { kind: "run", flags, prompt: rest };
}

type Settable = { -readonly [Name in keyof Flags]: Flags[Name] };

function setFlag(flags: Settable, name: keyof Flags, value: string): string | undefined {
  switch (name) {
    case "max": {
      const max = Number(value);
      if (!Number.isInteger(max) || max < 1 || max > 100)
        return `--max takes a whole number from 1 to 100, not "${value}".`;
      flags.max = max;
      return undefined;
    }
    case "land": {
      const mode = LAND_MODES.find((each) => each === value);
      if (mode === undefined) return `--land takes ${LAND_MODES.join(", ")}, not "${value}".`;
      flags.land = mode;
      return undefined;
    }
    case "base":
      if (value === "") return "--base takes a commit.";
      flags.base = value;
      return undefined;
    case "check":
      if (value.trim() === "") return "--check takes a command.";
      flags.check = value;
      return undefined;
    case "yes":
      flags.yes = true;
      return undefined;
  }
}

export function usage(): string {
  const flags = FLAGS.map(
    ({ name, value, help }) => `  --${name}${value === undefined ? "" : ` ${value}`}\n      ${help}`,
  );
  return [
    "/ultrathink [flags] <prompt>",
    "  works on the prompt in a git worktree of its own, commits each pass, and lands the result on your branch",
    ...flags,
  ].join("\n");
}
