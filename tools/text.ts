import { pathText, type ShownPath, shownPath, type TreePath } from "../src/git/names.ts";
import { excerpt, redact } from "../src/naming/bounds.ts";

/**
 * What reaches the model is made here: words of other programs are redacted and bounded, lists are bounded by
 * whole lines, and an identity (path, branch, object name) is exact or, with a count, left out.
 */

declare const brand: unique symbol;
/** Words of a hook, of git, of another person: for reading only. {@link foreign} alone makes one. */
export type ForeignText = string & { readonly [brand]: "ForeignText" };

const FOREIGN_LIMIT_BYTES = 4 * 1024;
/** Redaction reads no more than this of one text. */
const READ_LIMIT_CHARACTERS = 64 * 1024;
const LINES_SHOWN = 20;
const LINES_LIMIT_BYTES = 12 * 1024;
const PATHS_KEPT = 100;
const PATHS_LIMIT_BYTES = 32 * 1024;

export function foreign(text: string): ForeignText {
  const plain = visible(text.slice(0, READ_LIMIT_CHARACTERS).replace(ANSI, "")).trim();
  return excerpt(redact(plain), FOREIGN_LIMIT_BYTES) as ForeignText;
}

/** Colours and cursor movements; ECMA-48, control sequences. */
const ANSI = new RegExp(`${String.fromCharCode(0x1b)}\\[[0-?]*[ -/]*[@-~]`, "g");

/** Characters that would break a line, move the cursor or turn the reading direction are written as escapes. */
function visible(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** A name in a sentence: bare when it is plain, quoted when a reader could not tell where it ends. */
export function name(text: string): string {
  if (/^[\p{L}\p{M}\p{N}/._~+@=,:%#-]+$/u.test(text)) return text;
  return JSON.stringify(text).replace(/[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu, escaped);
}

export interface PathList {
  readonly paths: readonly ShownPath[];
  /** How many there are; `paths` may hold fewer. */
  readonly totalPaths: number;
}

/** Exact paths, as many as fit, and how many there are. */
export function boundedPaths(paths: readonly TreePath[]): PathList {
  let bytes = 0;
  const kept = paths.slice(0, PATHS_KEPT).filter((path, index) => {
    bytes += path.length;
    return index === 0 || bytes <= PATHS_LIMIT_BYTES;
  });
  return { paths: kept.map(shownPath), totalPaths: paths.length };
}

/** One path a line, indented. */
export function pathLines(paths: readonly TreePath[]): string {
  return lines(paths.map((path) => `  ${pathName(path)}`));
}

function pathName(path: TreePath): string {
  const text = pathText(path);
  return text === undefined ? JSON.stringify(shownPath(path)) : name(text);
}

/** Whole lines, as many as fit; then how many are left out. */
export function lines(all: readonly string[], limit = LINES_SHOWN): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of all) {
    bytes += Buffer.byteLength(line) + 1;
    if (shown.length === limit || (shown.length > 0 && bytes > LINES_LIMIT_BYTES)) break;
    shown.push(line);
  }
  const rest = all.length - shown.length;
  return [...shown, ...(rest > 0 ? [`  … and ${rest} more`] : [])].join("\n");
}
