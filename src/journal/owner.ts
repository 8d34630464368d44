import { hostname } from "node:os";
import { processStart } from "../process/process-start.ts";

/** The process that a run or a lock belongs to; survives the re-use of its pid. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** As the system prints it; only ever compared. */
  readonly start: string;
}

let self: Promise<Owner> | undefined;

/** This process. */
export function thisOwner(): Promise<Owner> {
  self ??= processStart(process.pid).then((start = "unknown") => ({ host: hostname(), pid: process.pid, start }));
  return self;
}

/** `unknown`: on another machine, where this one cannot look. */
export type Liveness = "alive" | "gone" | "unknown";

export async function liveness(owner: Owner): Promise<Liveness> {
  if (owner.host !== hostname()) return "unknown";
  return (await processStart(owner.pid)) === owner.start ? "alive" : "gone";
}

/** @throws {SyntaxError} unless `value` has the shape of an owner. */
export function toOwner(value: unknown): Owner {
  if (typeof value === "object" && value !== null && "host" in value && "pid" in value && "start" in value) {
    const { host, pid, start } = value;
    if (typeof host === "string" && typeof pid === "number" && typeof start === "string") return { host, pid, start };
  }
  throw new SyntaxError(`not an owner: ${JSON.stringify(value)}`);
}
