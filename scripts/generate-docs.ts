import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { STEPS } from "./landing-table.ts";

/**
 * Writes the part of docs/landing.md that follows from the code, between its two marks; with `--check` fails
 * instead when it is not what the code says.
 */
const FILE = fileURLToPath(new URL("../docs/landing.md", import.meta.url));
const BEGIN = "<!-- generated: npm run docs -->";
const END = "<!-- end of generated part -->";

const text = readFileSync(FILE, "utf8");
const [before, rest] = text.split(BEGIN);
const [, after] = rest?.split(END) ?? [];
if (before === undefined || after === undefined) throw new Error(`${FILE} lacks its marks`);
const fresh = `${before}${BEGIN}\n\n${render()}\n\n${END}${after}`;

if (!process.argv.includes("--check")) writeFileSync(FILE, fresh);
else if (fresh !== text) {
  console.error("docs/landing.md does not say what src/landing/transition.ts says: npm run docs");
  process.exitCode = 1;
}

function render(): string {
  const arrows = STEPS.flatMap(({ from, event, to }) => to.map((each) => `    ${from} --> ${each}: ${event}`));
  const rows = STEPS.map(
    ({ from, event, to }) => `| \`${from}\` | \`${event}\` | ${to.map((each) => `\`${each}\``).join(" or ")} |`,
  );
  return [
    "```mermaid",
    "stateDiagram-v2",
    "    [*] --> planning",
    ...arrows,
    "    landed --> [*]",
    "    stopped --> [*]",
    "```",
    "",
    "| state | event | next state |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
}
