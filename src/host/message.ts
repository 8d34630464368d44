/** The part of both hosts' messages that matters here. */
export interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly stopReason?: string;
  readonly errorMessage?: string;
}

export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: string; text?: string }) => (part.type === "text" ? (part.text ?? "") : ""))
    .join("");
}
