import { type TUnsafe, Type } from "typebox";

/**
 * One of a few strings, in the form that every provider takes: `enum`, not `anyOf` of constants.
 *
 * The same shape as the host's `StringEnum`, which is not used because importing it loads every provider
 * (0.4 s): the tools also run without a host, in scripts and CI.
 */
export function StringEnum<const Values extends readonly string[]>(
  values: Values,
  { description }: { readonly description: string },
): TUnsafe<Values[number]> {
  return Type.Unsafe({ type: "string", enum: values, description });
}
