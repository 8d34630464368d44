import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

/** What a user typed, as the host takes it back. */
export type UserContent = Parameters<ExtensionAPI["sendUserMessage"]>[0];

type Part = Exclude<UserContent[number], string>;

export function userContent(text: string, images: readonly Part[] = []): UserContent {
  return images.length === 0 ? text : [{ type: "text", text }, ...images];
}

/** One message of several: a host that has just begun with the first would refuse the second. */
export function joinContent(contents: readonly UserContent[]): UserContent {
  if (contents.every((content) => typeof content === "string")) return contents.join("\n\n");
  return contents.flatMap((content): Part[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
}
