import type { ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { type Config, saveConfig } from "../config/config.ts";
import type { AnyModel } from "../host/complete.ts";

export type NamingModel =
  | { readonly kind: "model"; readonly model: AnyModel; readonly note?: string }
  | { readonly kind: "dismissed" }
  | { readonly kind: "none" };

/**
 * The model that names runs and commits: the configured one; else the one that the user picks once, which is
 * remembered; else, without dialogs, the session's own for this run.
 *
 * @param signal takes the dialog away again.
 */
export async function namingModel(
  ctx: ExtensionCommandContext,
  config: Config,
  dialogs: boolean,
  signal: AbortSignal,
): Promise<NamingModel> {
  const { naming } = config;
  const registry = ctx.modelRegistry;
  const configured = naming && registry.find(naming.provider, naming.modelId);
  if (configured && registry.hasConfiguredAuth(configured)) return { kind: "model", model: configured };
  const gone = naming && `the naming model ${naming.provider}/${naming.modelId} is not available`;
  if (!dialogs) return ownModel(ctx, gone);

  const choices = choicesOf(ctx);
  if (choices.length === 0) return { kind: "none" };
  const purpose = "Model for names and commit messages (a small, fast one is enough)";
  const title = gone === undefined ? purpose : `${gone}. ${purpose}`;
  const picked = await ctx.ui.select(title, choices.map(nameOf), { signal });
  const model = choices.find((each) => nameOf(each) === picked);
  if (model === undefined) return { kind: "dismissed" };
  await saveConfig({ naming: { provider: model.provider, modelId: model.id } });
  return { kind: "model", model };
}

function ownModel({ model }: ExtensionCommandContext, gone: string | undefined): NamingModel {
  if (model === undefined) return { kind: "none" };
  return { kind: "model", model, ...(gone ? { note: `${gone}; ${nameOf(model)} names this run` } : {}) };
}

/** The models that the user has narrowed the session to, else all that can be used; the session's own first. */
function choicesOf(ctx: ExtensionCommandContext): AnyModel[] {
  const scoped = "scopedModels" in ctx ? (ctx.scopedModels as readonly { model: AnyModel }[]) : []; // 1.6.0
  const models = scoped.length > 0 ? scoped.map(({ model }) => model) : ctx.modelRegistry.getAvailable();
  const own = ctx.model && nameOf(ctx.model);
  return [...models].sort((a, b) => Number(nameOf(b) === own) - Number(nameOf(a) === own));
}

function nameOf({ provider, id }: AnyModel): string {
  return `${provider}/${id}`;
}
