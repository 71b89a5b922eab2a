// What must a single pass know of an element? The few facts of the HTML standard that links, metadata and visible text depend on.

export interface ElementFacts {
  /** Attributes worth reading. */
  attributes: readonly string[];
  /** Stands inside a line of text: its tags do not part words. */
  inline: boolean;
  /** Its content is no part of the page's elements: raw text by the standard, or the fragment of a template. */
  inert: boolean;
}

const NONE: readonly string[] = [];
const OTHER: ElementFacts = { attributes: NONE, inline: false, inert: false };

const ATTRIBUTES: Record<string, readonly string[]> = {
  a: ["href", "rel"],
  area: ["href", "rel"],
  base: ["href"],
  html: ["lang", "xml:lang"],
  link: ["rel", "href"],
  meta: ["name", "property", "http-equiv", "content"],
};

const INLINE =
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike strong sub sup time tt u var wbr";

/** HTML 13.1.2: raw text elements, those with scripting off included, and template. */
const INERT = "script style template title textarea iframe noembed noframes xmp plaintext";

const facts = new Map<string, ElementFacts>();
for (const [name, attributes] of Object.entries(ATTRIBUTES)) facts.set(name, { ...OTHER, attributes });
for (const name of INLINE.split(" ")) facts.set(name, { ...(facts.get(name) ?? OTHER), inline: true });
for (const name of INERT.split(" ")) facts.set(name, { ...OTHER, inert: true });

/** Of an element by its lower-case name. */
export function elementFacts(name: string): ElementFacts {
  return facts.get(name) ?? OTHER;
}

/** SVG and MathML: elements inside may close themselves, and CDATA is text. */
export function isForeign(name: string): boolean {
  return name === "svg" || name === "math";
}
