import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  Api,
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  Message,
  Model,
  SimpleStreamOptions,
  ToolCall,
} from "@mariozechner/pi-ai";
import * as piAi from "@mariozechner/pi-ai";
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import type { Answer, NamingKind, Progress, Script, ScriptedCall } from "./script.ts";
import { namingAnswer, passAnswer, progressOf, startPass, substituted } from "./script.ts";

export type { Pass, Reply, Script, ScriptedCall } from "./script.ts";

/** `summary` is the host's own compaction. */
export type RequestKind = "agent" | "oracle" | "summary" | NamingKind;

/** One line of the log: what a model was told. */
export interface RequestRecord {
  kind: RequestKind;
  /** Zero-based index into `passes` (or `oracle`); absent for the other kinds. */
  pass?: number;
  model: string;
  /** Reasoning effort asked for; only `scripted/oracle` knows any. */
  reasoning?: string;
  /** The working directory that the system prompt names. */
  cwd?: string;
  systemPrompt: string;
  /** Text of the last message with the role `user`; to a model, extensions' custom messages have it too. */
  lastUser: string;
  tools: string[];
  /** Results that arrived since the previous request. */
  toolResults: { tool: string; text: string; isError: boolean }[];
}

/** 1.6.0 carries the prompt and the tools in system messages and exports readers for them; 0.73.1 has neither. */
interface TranscriptReaders {
  getCurrentSystemPrompt?: (messages: readonly Message[]) => string;
  getCurrentTools?: (messages: readonly Message[]) => { name: string }[];
}
const { getCurrentSystemPrompt, getCurrentTools }: TranscriptReaders = piAi as object;

/** Registers the provider `scripted`, which plays the {@link Script} in the file that `PI_SCRIPT` names. */
export default function scriptedModel(pi: ExtensionAPI): void {
  pi.registerProvider("scripted", {
    name: "Scripted",
    baseUrl: "http://localhost:1/v1",
    apiKey: "scripted-key",
    api: "scripted-api",
    models: ["agent", "naming", "oracle"].map((id) => ({
      id,
      name: `Scripted ${id}`,
      reasoning: id === "oracle",
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 8_192,
    })),
    streamSimple(model: Model<Api>, context: Context, options: SimpleStreamOptions = {}) {
      const stream = piAi.createAssistantMessageEventStream();
      void play(stream, model, context, options);
      return stream;
    },
  });
}

async function play(
  stream: AssistantMessageEventStream,
  model: Model<Api>,
  context: Context,
  options: SimpleStreamOptions,
): Promise<void> {
  const { signal } = options;
  const message = emptyMessage(model);
  try {
    const path = process.env["PI_SCRIPT"];
    if (!path) throw new Error("scripted model: PI_SCRIPT is not set");
    const script = JSON.parse(readFileSync(path, "utf8")) as Script;
    message.usage.cost.total = script.cost ?? 0;
    const answer = answerTo(context, model, options, script, progressOf(path));
    stream.push({ type: "start", partial: message });
    if (answer.kind === "error") throw new Error(answer.message);
    if (answer.kind === "text" && answer.delayMs > 0) {
      think(stream, message);
      await sleep(answer.delayMs, undefined, signal ? { signal } : {});
    }
    signal?.throwIfAborted();
    const main = process.env["PI_SCRIPT_MAIN"] ?? "";
    if (answer.kind === "text") say(stream, message, substituted(answer.text, main));
    else call(stream, message, substituted(answer.calls, main));
    stream.push({ type: "done", reason: answer.kind === "text" ? "stop" : "toolUse", message });
  } catch (error) {
    const reason = signal?.aborted ? "aborted" : "error";
    message.stopReason = reason;
    message.errorMessage = error instanceof Error ? error.message : String(error);
    stream.push({ type: "error", reason, error: message });
  }
  stream.end();
}

/** Decides what to answer, moves on in the script and writes the request to the file that `PI_SCRIPT_LOG` names. */
function answerTo(
  context: Context,
  model: Model<Api>,
  { reasoning }: SimpleStreamOptions,
  script: Script,
  progress: Progress,
): Answer {
  const { messages } = context;
  const systemPrompt = getCurrentSystemPrompt?.(messages) ?? context.systemPrompt ?? "";
  const tools = (getCurrentTools?.(messages) ?? context.tools ?? []).map(({ name }) => name);
  const users = messages.filter(({ role }) => role === "user").map(textOf);
  const kind = kindOf(systemPrompt, users[0] ?? "", tools, script);
  const lane = kind === "agent" || kind === "oracle" ? progress[kind] : undefined;
  if (lane) startPass(lane, unanswered(messages));
  const cwd = /(?:Current working directory: |<cwd>\s*)([^\n<]+)/.exec(systemPrompt)?.[1];
  record({
    kind,
    ...(lane ? { pass: lane.pass } : {}),
    model: model.id,
    ...(reasoning ? { reasoning } : {}),
    ...(cwd ? { cwd } : {}),
    systemPrompt,
    lastUser: users.at(-1) ?? "",
    tools,
    toolResults: messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).flatMap(toolResult),
  });
  switch (kind) {
    case "agent":
      return passAnswer(script.passes, progress.agent);
    case "oracle":
      return passAnswer(script.oracle ?? [], progress.oracle);
    case "summary":
      return { kind: "text", text: "Scripted summary.", delayMs: 0 };
    default:
      return namingAnswer(kind, script, ++progress.replies[kind]);
  }
}

/** By what the request says: the session's own model may be asked for names, and may be the oracle's too. */
function kindOf(systemPrompt: string, firstUser: string, tools: readonly string[], script: Script): RequestKind {
  const task = /^Task: (slug|commit message|merge message)\s*$/m.exec(`${systemPrompt}\n${firstUser}`)?.[1];
  if (task) return task.replace(" message", "") as NamingKind;
  if (systemPrompt.startsWith("You are a context summarization assistant")) return "summary";
  return script.oracle && tools.includes("oracle_accept") ? "oracle" : "agent";
}

/** Keys of the user messages since the last answer, without the summary that a compaction leaves. */
function unanswered(messages: Message[]): string[] {
  const answered = messages.findLastIndex(({ role }) => role === "assistant" || role === "toolResult");
  return messages
    .slice(answered + 1)
    .filter((message) => message.role === "user" && !/^The .+ (?:compacted into|is a summary)/.test(textOf(message)))
    .map((message) => `${message.timestamp} ${textOf(message)}`);
}

function emptyMessage(model: Model<Api>): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 20, cost },
    stopReason: "stop",
    timestamp: Date.now(),
  };
}

function think(stream: AssistantMessageEventStream, message: AssistantMessage): void {
  const contentIndex = message.content.push({ type: "thinking", thinking: "Scripted wait" }) - 1;
  stream.push({ type: "thinking_start", contentIndex, partial: message });
  stream.push({ type: "thinking_delta", contentIndex, delta: "Scripted wait", partial: message });
}

function say(stream: AssistantMessageEventStream, message: AssistantMessage, text: string): void {
  const contentIndex = message.content.push({ type: "text", text }) - 1;
  stream.push({ type: "text_start", contentIndex, partial: message });
  stream.push({ type: "text_delta", contentIndex, delta: text, partial: message });
  stream.push({ type: "text_end", contentIndex, content: text, partial: message });
}

let callCount = 0;

function call(stream: AssistantMessageEventStream, message: AssistantMessage, calls: readonly ScriptedCall[]): void {
  message.stopReason = "toolUse";
  for (const { tool, arguments: args } of calls) {
    const toolCall: ToolCall = { type: "toolCall", id: `scripted_${++callCount}`, name: tool, arguments: {} };
    Object.assign(toolCall.arguments, args); // typed as JSON by 1.6.0 only
    const contentIndex = message.content.push(toolCall) - 1;
    stream.push({ type: "toolcall_start", contentIndex, partial: message });
    stream.push({ type: "toolcall_end", contentIndex, toolCall, partial: message });
  }
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

function toolResult(message: Message): RequestRecord["toolResults"] {
  if (message.role !== "toolResult") return [];
  return [{ tool: message.toolName, text: textOf(message), isError: message.isError }];
}

function record(request: RequestRecord): void {
  const path = process.env["PI_SCRIPT_LOG"];
  if (path) appendFileSync(path, `${JSON.stringify(request)}\n`);
}
