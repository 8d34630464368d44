/**
 * Wraps a line so that what does not fit goes on below its own beginning.
 *
 * @param wrap breaks text at words to so many columns.
 */
export function hangingLines(
  line: string,
  columns: number,
  wrap: (text: string, columns: number) => string[],
): string[] {
  const own = line.length - line.trimStart().length;
  const indent = " ".repeat(Math.min(own, Math.floor(columns / 2)));
  return wrap(line.slice(own), Math.max(1, columns - indent.length)).map((part) => indent + part);
}
