import { Type } from "typebox";
import { askFor, type Complete, NamingError } from "./ask.ts";
import { excerpt, MATERIAL_LIMIT_BYTES, redact } from "./bounds.ts";

const LONGEST = 50;
const Slug = Type.Object({
  slug: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", minLength: 3, maxLength: LONGEST }),
});

/** Slugs asked for before giving up on a free one. */
const ATTEMPTS = 5;

const SYSTEM = `Task: slug
You name a piece of programming work. Reply with one JSON object and nothing else: {"slug": "..."}.
The slug is 3 to 50 characters: lower-case ASCII words and digits joined by single dashes, saying what the work does.`;

export interface SlugChoice {
  readonly slug: string;
  /** Why the naming model's word is not used; the slug then comes from the prompt. */
  readonly failure?: NamingError;
}

/**
 * A slug for `prompt` that `isTaken` does not know, from the naming model or, when that fails, from the
 * prompt's own words.
 */
export async function chooseSlug(
  complete: Complete,
  prompt: string,
  isTaken: (slug: string) => boolean,
  signal?: AbortSignal,
): Promise<SlugChoice> {
  const material = excerpt(redact(prompt), MATERIAL_LIMIT_BYTES - 2_048);
  const refused: string[] = [];
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const taken = refused.length === 0 ? "" : `\n\nTaken already, choose another: ${refused.join(", ")}`;
      const { slug } = await askFor(
        complete,
        { system: SYSTEM, prompt: `The work:\n${material}${taken}`, signal },
        Slug,
      );
      if (!isTaken(slug)) return { slug };
      refused.push(slug);
    }
    throw new NamingError(`${ATTEMPTS} slugs in a row are taken: ${refused.join(", ")}`);
  } catch (error) {
    if (!(error instanceof NamingError)) throw error;
    return { slug: freeSlug(slugFromPrompt(prompt), isTaken), failure: error };
  }
}

/** The first words of the prompt that a slug can hold. */
export function slugFromPrompt(prompt: string): string {
  const words =
    prompt
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  let slug = "";
  for (const word of words.slice(0, 6)) {
    const next = slug === "" ? word : `${slug}-${word}`;
    if (next.length > 40) break;
    slug = next;
  }
  return slug.length >= 3 ? slug : `run${slug === "" ? "" : `-${slug}`}`;
}

/** `slug`, or with the first number that makes it free. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  let number = 2;
  while (isTaken(numbered(slug, number))) number++;
  return numbered(slug, number);
}

function numbered(slug: string, number: number): string {
  const room = LONGEST - `-${number}`.length;
  return `${slug.slice(0, room).replace(/-$/, "")}-${number}`;
}
