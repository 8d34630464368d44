/** Everything that goes to the naming model in one question, in bytes. */
export const MATERIAL_LIMIT_BYTES = 16 * 1024;

/** Credentials by their shape, and values that follow a name which says what they are. */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /(?<=(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{12,}=*/gi,
  /(?<=\/\/[^\s/:@]+:)[^\s/@]+(?=@)/g,
];

/** Replaces what looks like a credential. */
export function redact(text: string): string {
  return SECRETS.reduce((rest, pattern) => rest.replace(pattern, "[redacted]"), text);
}

/** The beginning of `text`, at most `limitBytes` of UTF-8 long, cut between characters. */
export function excerpt(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limitBytes) return text;
  const mark = "\n[cut]";
  const cut = bytes.subarray(0, limitBytes - mark.length);
  return new TextDecoder("utf-8").decode(cut, { stream: true }) + mark;
}
