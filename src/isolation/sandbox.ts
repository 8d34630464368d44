import { basename, dirname, join } from "node:path";
import { quote } from "./redirect.ts";
import type { Rule } from "./sandbox-rules.ts";

/** The programs that can confine a command: on Linux, and on macOS. */
export type SandboxProgram = "bubblewrap" | "sandbox-exec";

export interface SandboxOptions {
  readonly program: SandboxProgram;
  readonly rules: readonly Rule[];
  readonly network: boolean;
}

const PACKED_REFS = "packed-refs";

/**
 * Arguments of bubblewrap, up to the command: everything is as outside, but for the rules. Processes of the
 * command end with it, having a PID namespace of their own.
 *
 * Root keeps its capabilities, but for the one to mount: it could make writable again what is not.
 */
export function bubblewrapArgs(rules: readonly Rule[], network: boolean): string[] {
  return [
    ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"],
    ...["--unshare-pid", "--die-with-parent", "--cap-drop", "CAP_SYS_ADMIN"],
    ...(network ? [] : ["--unshare-net"]),
    ...rules.flatMap((rule) => mounts(rule, rules)),
  ];
}

/** The common directory once more, inside of itself; no other place for it would be the sandbox's alone. */
const SHARED = "ultrathink-shared";

function mounts({ access, path }: Rule, rules: readonly Rule[]): string[] {
  // What is gone by the time that the command starts needs no rule.
  if (access !== "locks") return [access === "read" ? "--ro-bind-try" : "--bind-try", path, path];
  // Of what is made at the top, nothing stays: no lock, no half-done merge, no `shallow`. Git locks `packed-refs`
  // where a link leads to, and reads there what a `git pack-refs` of the user's has just written.
  const shared = join(path, SHARED);
  const below = rules.filter((rule) => dirname(rule.path) === path).map((rule) => basename(rule.path));
  return [
    ...["--tmpfs", path, "--bind", path, shared],
    ...[...below, PACKED_REFS].flatMap((name) => ["--ro-bind-try", join(path, name), join(shared, name)]),
    ...["--symlink", join(SHARED, PACKED_REFS), join(path, PACKED_REFS)],
    ...rules.flatMap(({ path: target, link }) => (link === undefined ? [] : ["--symlink", target, link])),
  ];
}

/** A profile for sandbox-exec, where the last rule that matches decides. Processes that a command leaves stay. */
export function sandboxExecProfile(rules: readonly Rule[], network: boolean): string {
  const offline = ["(deny network*)", '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))'];
  const lines = rules.flatMap(({ access, path }) => {
    const all = `(${access === "write" ? "allow" : "deny"} file-write* (subpath ${profileString(path)}))`;
    const locks = [".lock", ".new"].map((end) => `(literal ${profileString(join(path, PACKED_REFS + end))})`);
    return access === "locks" ? [all, `(allow file-write* ${locks.join(" ")})`] : [all];
  });
  return ["(version 1)", "(allow default)", ...(network ? [] : offline), ...lines, ""].join("\n");
}

function profileString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The words before a command that is to run by itself, without a shell. */
export function sandboxCommand({ program, rules, network }: SandboxOptions): string[] {
  return program === "bubblewrap"
    ? ["bwrap", ...bubblewrapArgs(rules, network), "--"]
    : ["/usr/bin/sandbox-exec", "-p", sandboxExecProfile(rules, network)];
}

/** Git's housekeeping after a commit packs references and removes objects: in the sandbox it would fail. */
const COUNT = `\${GIT_CONFIG_COUNT:-0}`;
const NO_MAINTENANCE = `export "GIT_CONFIG_KEY_${COUNT}=maintenance.auto" "GIT_CONFIG_VALUE_${COUNT}=false" "GIT_CONFIG_COUNT=$((${COUNT} + 1))"`;

/** Options, aliases and functions that the user's own shell settings have given to the shell at hand. */
const SHELL_STATE = "$({ alias -p; declare -f; shopt -p; set +o; } 2>/dev/null)";

/**
 * Shell text that runs `command` in the sandbox, by a shell of the same kind: as `command` alone would run, line
 * numbers in its messages included.
 *
 * The shell that reads this text becomes the sandbox (`exec`), so that signals, the exit code and the output are
 * the command's. It runs nothing itself should the sandbox not start.
 */
export function sandboxedShellText(options: SandboxOptions, command: string): string {
  const sandbox = sandboxCommand(options).map(quote).join(" ");
  const script = quote(`. /dev/fd/9 2>/dev/null; exec 9<&-; ${command}`);
  return [
    NO_MAINTENANCE,
    `exec ${sandbox} "\${BASH:-\${ZSH_NAME:-sh}}" -c ${script} 9<<SHELL_STATE`,
    SHELL_STATE,
    "SHELL_STATE",
  ].join("\n");
}
