import { getAgentDir, SettingsManager } from "@mariozechner/pi-coding-agent";

/** How much later than planned a retry may begin. */
const MARGIN_MS = 2_000;

/**
 * How long 0.73.1 may wait, after a provider error, before it tries again, in milliseconds; when nothing has
 * begun by then, it does not. It has no event for that.
 *
 * @param attempt errors in a row so far.
 */
export function retryWaitMs(cwd: string, attempt: number): number {
  const { enabled, maxRetries, baseDelayMs } = SettingsManager.create(cwd, getAgentDir()).getRetrySettings();
  return enabled && attempt <= maxRetries ? baseDelayMs * 2 ** (attempt - 1) + MARGIN_MS : 0;
}
