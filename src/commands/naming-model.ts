import type { ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { type Config, saveConfig } from "../config/config.ts";
import type { AnyModel } from "../host/complete.ts";

export type NamingModel =
  | { readonly kind: "model"; readonly model: AnyModel }
  | { readonly kind: "dismissed" }
  | { readonly kind: "none" };

/**
 * The model that names runs and commits: the configured one; else the one that the user picks once, which is
 * remembered; else, without dialogs, the session's own for this run.
 */
export async function namingModel(
  ctx: ExtensionCommandContext,
  config: Config,
  dialogs: boolean,
): Promise<NamingModel> {
  const { naming } = config;
  const registry = ctx.modelRegistry;
  const configured = naming && registry.find(naming.provider, naming.modelId);
  if (configured && registry.hasConfiguredAuth(configured)) return { kind: "model", model: configured };
  if (!dialogs) return ctx.model ? { kind: "model", model: ctx.model } : { kind: "none" };

  const available = registry.getAvailable();
  if (available.length === 0) return { kind: "none" };
  const names = available.map(({ provider, id }) => `${provider}/${id}`);
  const current = ctx.model && `${ctx.model.provider}/${ctx.model.id}`;
  const sorted = current === undefined ? names : [current, ...names.filter((name) => name !== current)];
  const picked = await ctx.ui.select("Model for names and commit messages (a small, fast one is enough)", sorted);
  if (picked === undefined) return { kind: "dismissed" };
  const model = available[names.indexOf(picked)];
  if (model === undefined) return { kind: "none" };
  await saveConfig({ naming: { provider: model.provider, modelId: model.id } });
  return { kind: "model", model };
}
