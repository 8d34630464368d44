import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PiEvent } from "./pi-print.ts";
import type { PiRpc } from "./pi-rpc.ts";
import type { TestRepo } from "./repo.ts";
import { homeOf } from "./ultrathink.ts";

/** A config with which no dialog opens. */
export const chosen = { naming: { provider: "scripted", modelId: "naming" } };

export function configFile(repo: TestRepo): string {
  return join(homeOf(repo), ".pi/ultrathink.json");
}

export function configure(repo: TestRepo, config: object): void {
  mkdirSync(dirname(configFile(repo)), { recursive: true });
  writeFileSync(configFile(repo), JSON.stringify(config));
}

/** Sends what a user types, whether the agent is at work or not. */
export function prompt(pi: PiRpc, message: string): Promise<PiEvent> {
  return pi.send({ type: "prompt", message, streamingBehavior: "steer" });
}

/** Text of a message that this package has added to the conversation. */
export function noteText(record: PiEvent): string | undefined {
  const message = record["message"] as { customType?: string; content?: string } | undefined;
  return record.type === "message_end" && message?.customType === "ultrathink" ? message.content : undefined;
}

/** Resolves to the summary of the run that is going on, or went on when nothing has waited for it yet. */
export async function summaryOf(pi: PiRpc): Promise<string> {
  const record = await pi.waitFor((each) => /^[✔✖]/.test(noteText(each) ?? ""));
  return noteText(record) ?? "";
}

/** Resolves once the next pass that thinks has begun to. */
export function thinking(pi: PiRpc): Promise<PiEvent> {
  return pi.waitFor(({ assistantMessageEvent: event }) => (event as PiEvent | undefined)?.type === "thinking_start");
}

export function status(pi: PiRpc, text: RegExp): Promise<PiEvent> {
  return pi.waitFor((record) => record["method"] === "setStatus" && text.test(`${record["statusText"]}`));
}

/** Resolves once the session is the user's again. */
export function noStatus(pi: PiRpc): Promise<PiEvent> {
  return pi.waitFor((record) => record["method"] === "setStatus" && record["statusText"] === undefined);
}
