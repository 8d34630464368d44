import type * as Tui from "@earendil-works/pi-tui";

export type { Tui };

/**
 * The host's own terminal library. Only one of the two names resolves on 0.73.1, where a static import of the
 * other stops Pi at start.
 */
export async function loadTui(): Promise<typeof Tui> {
  try {
    return await import("@earendil-works/pi-tui");
  } catch (error) {
    if (!isMissingModule(error)) throw error;
    return (await import("@mariozechner/pi-tui" as string)) as typeof Tui;
  }
}

function isMissingModule(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}
