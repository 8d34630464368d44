import { resolve } from "node:path";
import { Type } from "typebox";
import { type BranchName, toBranchName } from "../src/git/names.ts";
import { type Blocked, blocked } from "./blocked.ts";
import { foreign, name } from "./text.ts";

/** PATH_MAX and NAME_MAX of Linux, in bytes, the terminating NUL left out. */
const PATH_LIMIT_BYTES = 4095;
const FILE_NAME_LIMIT_BYTES = 255;

export function pathParameter(description: string) {
  return Type.String({ minLength: 1, maxLength: PATH_LIMIT_BYTES, pattern: NO_CONTROL_CHARACTERS, description });
}

export function branchParameter(description: string) {
  return Type.String({ minLength: 1, maxLength: 240, description });
}

/** git reads a path with a newline, but cannot print it in a way that its own tools read back. */
const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f]+$";

/** The exact short name of a local branch, whatever else git could take the text for. */
export function branchArgument(text: string): BranchName | Blocked {
  try {
    return toBranchName(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const next = "Give the short name of a local branch, such as topic/x.";
    return blocked("invalid-branch-name", `${foreign(error.message)}.`, next);
  }
}

/** An absolute path; what is relative is taken from `cwd`. */
export function pathArgument(cwd: string, text: string): string | Blocked {
  const path = resolve(cwd, text);
  const next = "Give another path.";
  if (/\p{Cs}/u.test(path)) return blocked("invalid-path", "The path is not valid Unicode text.", next);
  const tooLong = path.split("/").some((part) => Buffer.byteLength(part) > FILE_NAME_LIMIT_BYTES);
  if (tooLong || Buffer.byteLength(path) > PATH_LIMIT_BYTES) {
    return blocked("invalid-path", `The path is longer than file systems allow: ${name(path.slice(0, 80))}…`, next);
  }
  return path;
}

export function isBlocked(value: string | Blocked): value is Blocked {
  return typeof value === "object";
}
