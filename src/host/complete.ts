import type { AssistantMessage, Context, Model } from "@mariozechner/pi-ai";
import type { ExtensionContext } from "@mariozechner/pi-coding-agent";
import { type Complete, NamingError } from "../naming/ask.ts";

// biome-ignore lint/suspicious/noExplicitAny: the hosts' own type of "a model of whatever API"
export type AnyModel = Model<any>;

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly maxTokens: number;
}

type Call = (model: AnyModel, context: Context, options: CallOptions) => Promise<AssistantMessage>;

/** Room for a JSON object with a commit message, and for a model that thinks first. */
const MAX_TOKENS = 4_096;

/** Calls `model` directly, outside of the session. */
export function completeWith(ctx: ExtensionContext, model: AnyModel): Complete {
  return async ({ system, prompt, signal }) => {
    const messages: Context["messages"] = [
      { role: "user", content: [{ type: "text", text: prompt }], timestamp: Date.now() },
    ];
    const reply = await call(ctx)(model, { systemPrompt: system, messages }, { signal, maxTokens: MAX_TOKENS }).catch(
      (error: unknown) => {
        throw new NamingError(error instanceof Error ? error.message : String(error), { cause: error });
      },
    );
    if (reply.stopReason === "error" || reply.stopReason === "aborted") {
      throw new NamingError(reply.errorMessage ?? `the call was ${reply.stopReason}`);
    }
    return reply.content.flatMap((part) => (part.type === "text" ? part.text : [])).join("");
  };
}

/** 1.6.0 completes through its registry; 0.73.1 through `pi-ai` with the registry's credentials. */
function call({ modelRegistry }: ExtensionContext): Call {
  if ("complete" in modelRegistry && typeof modelRegistry.complete === "function") {
    const registry = modelRegistry as unknown as { complete: Call };
    return (model, context, options) => registry.complete(model, context, options);
  }
  return async (model, context, options) => {
    const auth = await modelRegistry.getApiKeyAndHeaders(model);
    if (!auth.ok) throw new NamingError(auth.error);
    const { complete } = (await import("@mariozechner/pi-ai")) as unknown as { complete: Call };
    return complete(model, context, { ...options, apiKey: auth.apiKey, headers: auth.headers } as CallOptions);
  };
}
