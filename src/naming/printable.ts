/** Control sequences of terminals (ECMA-48, 5.4 and 5.6). Node's own pattern takes the text before a bell for one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\))/g;

/**
 * Text of others (a hook's, a model's, a file's name) without what moves the cursor, changes colours or turns the
 * reading direction around. Line breaks stay.
 */
export function printable(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\t/g, "  ")
    .replace(/(?!\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, "");
}
