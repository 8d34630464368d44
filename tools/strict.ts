import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { foreign } from "./text.ts";

/** Problems worth naming in one refusal. */
const PROBLEMS_NAMED = 5;

/**
 * For `prepareArguments`: refuses arguments that do not match `schema` as sent.
 *
 * Both hosts coerce before they validate (`null` to `"null"`, `1` to `true`), so without this a schema does not
 * describe what the model asked for.
 */
export function strict<S extends TSchema>(schema: S): (args: unknown) => Static<S> {
  return (args) => {
    if (Value.Check(schema, args)) return args as Static<S>;
    const problems = Value.Errors(schema, args)
      .filter(({ keyword }) => keyword !== "boolean") // the host's word for "additional"; `additionalProperties` names them
      .slice(0, PROBLEMS_NAMED)
      .map(({ instancePath, message, params }) => `${instancePath || "/"} ${message}${named(params)}`);
    throw new TypeError(
      foreign(`Invalid arguments: ${problems.join("; ")}. Nothing was changed; correct them and call again.`),
    );
  };
}

function named(params: object): string {
  const names = "additionalProperties" in params ? params.additionalProperties : undefined;
  return Array.isArray(names) ? `: ${names.map((name) => JSON.stringify(name)).join(", ")}` : "";
}
