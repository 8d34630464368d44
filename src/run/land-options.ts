import type { Config } from "../config/config.ts";
import type { LandOptions } from "./land-run.ts";

/** A check that takes longer is taken for stuck. */
export const CHECK_LIMIT_MS = 30 * 60_000;

/** How a kept run lands when it is asked for by name: as configured, and `auto` where that was not to land. */
export function landOptions({ land, check }: Config): LandOptions {
  return {
    policy: land === undefined || land === "none" ? "auto" : land,
    check: check === undefined ? undefined : { command: check, timeoutMs: CHECK_LIMIT_MS },
  };
}
