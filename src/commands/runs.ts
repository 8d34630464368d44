import { copyToClipboard, type ExtensionAPI, type ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { GitError } from "../git/git-error.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { modeOf } from "../host/host.ts";
import type { Tui } from "../host/tui.ts";
import { type KnownRun, knownRuns } from "../run/known-runs.ts";
import { prune } from "../run/prune.ts";
import { type Channel, openChannel } from "../ui/channel.ts";
import { nextActions, runDetails, runsTable } from "../ui/runs.ts";
import { type PanelAction, runsPanel } from "../ui/runs-panel.ts";
import type { ActiveRuns } from "./active-run.ts";
import { act } from "./run-action.ts";
import { awaitWithoutUi } from "./session-run.ts";

const WORDS = ["show", "resume", "land", "undo", "discard"] as const;
const USAGE = `/ultrathink-runs            every run of this repository
/ultrathink-runs --json     the same for scripts
/ultrathink-runs show|resume|land|undo|discard <slug>
/ultrathink-runs prune      forget what has been over for 30 days (a start of Pi does so as well)`;

/** One call of the command. */
export interface Invocation {
  readonly ctx: ExtensionCommandContext;
  readonly channel: Channel;
  readonly repository: Repository;
  readonly runs: ActiveRuns;
  readonly tui: typeof Tui;
}

export function registerRuns(pi: ExtensionAPI, runs: ActiveRuns, tui: typeof Tui): void {
  pi.registerCommand("ultrathink-runs", {
    description: "The runs of this repository: inspect, resume, land, undo, discard",
    getArgumentCompletions: completions,
    async handler(text, ctx) {
      const channel = openChannel(pi, ctx);
      await awaitWithoutUi(ctx, async () => {
        try {
          return await command({ ctx, channel, repository: await openRepository(ctx.cwd), runs, tui }, text.trim());
        } catch (error) {
          await channel.refuse(error instanceof Error ? error.message : String(error));
          return false;
        }
      });
    },
  });
}

async function completions(prefix: string) {
  const [word = "", slug] = prefix.split(/\s+/, 2);
  if (slug === undefined)
    return WORDS.filter((each) => each.startsWith(word)).map((each) => ({ value: `${each} `, label: each }));
  const repository = await openRepository(process.cwd()).catch((error: unknown) => {
    if (error instanceof GitError) return undefined;
    throw error;
  });
  if (repository === undefined) return null;
  const fitting = (await knownRuns(repository)).runs.filter(({ run }) => run.slug.startsWith(slug));
  return fitting.map(({ run, status }) => ({ value: `${word} ${run.slug}`, label: run.slug, description: status }));
}

/** Resolves to whether a script may take it for a success. */
async function command(invocation: Invocation, text: string): Promise<boolean> {
  const { ctx, channel, repository } = invocation;
  const [first = "", slug = ""] = text.split(/\s+/);
  const all = await knownRuns(repository);
  if (first === "") {
    if (ctx.hasUI && all.runs.length > 0) return choose(invocation);
    await channel.say(runsTable(all));
    return true;
  }
  if (first === "--json") {
    await channel.say(JSON.stringify(all, null, 2));
    return true;
  }
  if (first === "prune") {
    const { ids, refs } = await prune(repository);
    await channel.say(
      `forgot ${ids.length} runs and landings that were over for 30 days (${refs.length} backup references)`,
    );
    return true;
  }
  const word = WORDS.find((each) => each === first);
  if (word === undefined || slug === "") {
    await channel.refuse(USAGE);
    return false;
  }
  const known = all.runs.find(({ run }) => run.slug === slug);
  if (known === undefined) {
    await channel.refuse(`there is no run ${slug}: /ultrathink-runs lists them.`);
    return false;
  }
  if (word !== "show") return act(invocation, known, word);
  await channel.say(runDetails(known));
  return true;
}

/** A run and what to do with it: in the terminal from a panel, over RPC from dialogs. */
async function choose(invocation: Invocation): Promise<boolean> {
  const { ctx, channel, repository } = invocation;
  const { runs } = await knownRuns(repository);
  const choice = modeOf(ctx) === "tui" ? await chooseInPanel(invocation, runs) : await chooseInDialogs(ctx, runs);
  if (choice === undefined) return true;
  const { known, action } = choice;
  if (action === "copy path") {
    await copyToClipboard(known.run.worktree);
    await channel.say(`copied ${known.run.worktree}`);
    return true;
  }
  if (
    action === "discard" &&
    !(await ctx.ui.confirm(`Discard ${known.run.slug}?`, "Its commits stay within reach for 30 days."))
  ) {
    return true;
  }
  if (action !== "show") return act(invocation, known, action);
  await channel.say(runDetails(known));
  return true;
}

type Choice = { readonly known: KnownRun; readonly action: PanelAction | "show" } | undefined;

function chooseInPanel({ ctx, tui }: Invocation, runs: readonly KnownRun[]): Promise<Choice> {
  return ctx.ui.custom<Choice>((screen, theme, keybindings, done) => {
    const panel = runsPanel(runs, { tui, theme, keybindings, done });
    return {
      ...panel,
      handleInput(data) {
        panel.handleInput(data);
        screen.requestRender();
      },
    };
  });
}

async function chooseInDialogs(ctx: ExtensionCommandContext, runs: readonly KnownRun[]): Promise<Choice> {
  const lines = runsTable({ runs, unreadable: [] }).split("\n");
  const picked = await ctx.ui.select("Runs of this repository", lines);
  const known = runs[lines.indexOf(picked ?? "")];
  if (known === undefined) return undefined;
  const actions = ["show", ...nextActions(known)] as const;
  const chosen = await ctx.ui.select(runDetails(known), [...actions]);
  const action = actions.find((each) => each === chosen);
  return action === undefined ? undefined : { known, action };
}
