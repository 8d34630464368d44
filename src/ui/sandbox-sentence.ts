import type { SandboxInForce } from "../isolation/detect-sandbox.ts";

/** What confined the agent's commands, for people. */
export function sandboxSentence(sandbox: SandboxInForce): string {
  if (sandbox.kind === "none") {
    return `no sandbox${sandbox.why === undefined ? "" : ` (${sandbox.why})`}: file tools and shells are redirected`;
  }
  const limits = [
    ...(sandbox.network ? [] : ["no network"]),
    ...(sandbox.coversRefs ? [] : ["files only, as a reftable holds all references"]),
  ];
  return `sandbox: ${sandbox.kind}${limits.length === 0 ? "" : ` (${limits.join("; ")})`}`;
}
