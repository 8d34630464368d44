import type { KeybindingsManager, Theme } from "@mariozechner/pi-coding-agent";
import type { Tui } from "../host/tui.ts";
import type { KnownRun } from "../run/known-runs.ts";
import { nextActions, type RunAction, runDetails, runsTable } from "./runs.ts";

export type PanelAction = RunAction | "copy path";

/** What the user chose; `undefined` when the panel was closed. */
export type PanelChoice = { readonly known: KnownRun; readonly action: PanelAction } | undefined;

export interface PanelDeps {
  readonly tui: Pick<typeof Tui, "truncateToWidth" | "wrapTextWithAnsi">;
  readonly theme: Pick<Theme, "fg">;
  readonly keybindings: Pick<KeybindingsManager, "matches">;
  readonly done: (choice: PanelChoice) => void;
}

const KEYS: Readonly<Record<string, PanelAction>> = { r: "resume", l: "land", u: "undo", d: "discard", c: "copy path" };

/** Rows of the list that are shown at once. */
const ROWS = 10;

/**
 * The runs of a repository: a list, the details of the one that is chosen, and a key for each thing that can be
 * done with it. Movement and closing are on the user's own keys.
 */
export function runsPanel(runs: readonly KnownRun[], { tui, theme, keybindings, done }: PanelDeps) {
  const rows = runsTable({ runs, unreadable: [] }).split("\n");
  let selected = 0;

  const move = (by: number): void => {
    selected = Math.min(runs.length - 1, Math.max(0, selected + by));
  };
  const actions = (known: KnownRun): PanelAction[] => [...nextActions(known), "copy path"];

  return {
    render(width: number): string[] {
      const known = runs[selected];
      const first = Math.max(0, Math.min(selected - Math.floor(ROWS / 2), rows.length - ROWS));
      const list = rows.slice(first, first + ROWS).map((row, index) => {
        const chosen = first + index === selected;
        return theme.fg(chosen ? "accent" : "text", tui.truncateToWidth(`${chosen ? "→" : " "} ${row}`, width));
      });
      const more =
        rows.length > ROWS ? [theme.fg("dim", tui.truncateToWidth(`  ${selected + 1} of ${rows.length}`, width))] : [];
      const details =
        known === undefined
          ? []
          : runDetails(known)
              .split("\n")
              .filter((line) => !line.includes("/ultrathink-runs "));
      const keys = Object.entries(KEYS).filter(([, action]) => known !== undefined && actions(known).includes(action));
      const hints = [...keys.map(([key, action]) => `${key} ${action}`), "esc close"].join(" · ");
      return [
        theme.fg("accent", tui.truncateToWidth("Runs of this repository", width)),
        ...list,
        ...more,
        "",
        ...details.flatMap((line) => tui.wrapTextWithAnsi(theme.fg("muted", line), width)),
        "",
        theme.fg("dim", tui.truncateToWidth(hints, width)),
      ];
    },
    handleInput(data: string): void {
      const is = (key: Parameters<KeybindingsManager["matches"]>[1]) => keybindings.matches(data, key);
      const known = runs[selected];
      const action = KEYS[data];
      if (is("tui.select.cancel")) done(undefined);
      else if (is("tui.select.up")) move(-1);
      else if (is("tui.select.down")) move(1);
      else if (is("tui.select.pageUp")) move(-ROWS);
      else if (is("tui.select.pageDown")) move(ROWS);
      else if (known !== undefined && action !== undefined && actions(known).includes(action)) done({ known, action });
    },
    invalidate(): void {
      // nothing is cached
    },
  };
}
