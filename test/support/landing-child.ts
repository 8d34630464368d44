import { openRepository } from "../../src/git/repository.ts";
import { appendRecord } from "../../src/journal/journal.ts";
import { performIn } from "../../src/landing/perform.ts";
import { type Perform, runLanding } from "../../src/landing/run.ts";
import type { Pending, Request } from "../../src/landing/state.ts";

/** A landing in a process of its own, which dies where it is told to. Argument: this, as JSON. */
export interface LandingChild {
  readonly repository: string;
  readonly journal: string;
  readonly request: Request;
  /** `before` the step's effect, its state on disk; or `after` it, before the next state is. */
  readonly die?: { readonly step: Pending["step"]; readonly moment: "before" | "after" };
}

const { repository: path, journal, request, die } = JSON.parse(process.argv[2] ?? "") as LandingChild;
const repository = await openRepository(path);

const effects = performIn({ repository });
const perform: Perform = async (state) => {
  if (die?.step === state.step && die.moment === "before") process.kill(process.pid, "SIGKILL");
  const event = await effects(state);
  if (die?.step === state.step && die.moment === "after") process.kill(process.pid, "SIGKILL");
  return event;
};
const end = await runLanding({ step: "planning", attempt: 1, request }, perform, (state) =>
  appendRecord(journal, state),
);
process.stdout.write(JSON.stringify(end));
