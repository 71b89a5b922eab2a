// May this page be indexed, may its links be followed? X-Robots-Tag headers and meta robots, as search engines document them.

export interface RobotsDirectives {
  noindex: boolean;
  nofollow: boolean;
}

/**
 * What the X-Robots-Tag values together forbid us. A value may name an agent ("otherbot: noindex"), which then holds for the rest
 * of that value; ones that name none, "*" or "robots" hold for all. What any of them forbids is forbidden.
 */
export function robotsDirectives(values: readonly string[], productToken: string): RobotsDirectives {
  const directives = { noindex: false, nofollow: false };
  const us = productToken.toLowerCase();
  for (const value of values) {
    let ours = true;
    for (const part of value.toLowerCase().split(",")) {
      const agent = agentOf(part);
      if (agent !== undefined) ours = agent === us || EVERYONE.has(agent);
      if (ours) apply(agent === undefined ? part : part.slice(part.indexOf(":") + 1), directives);
    }
  }
  return directives;
}

/** The content of a meta element that is named robots or as we are. */
export function metaDirectives(content: string): RobotsDirectives {
  const directives = { noindex: false, nofollow: false };
  apply(content.toLowerCase(), directives);
  return directives;
}

const EVERYONE = new Set(["*", "robots"]);

/** Directives that carry a value after a colon; anything else before a colon is an agent. */
const VALUED = new Set(["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]);

function agentOf(part: string): string | undefined {
  const colon = part.indexOf(":");
  if (colon < 0) return undefined;
  const name = part.slice(0, colon).trim();
  return VALUED.has(name) || /\s/.test(name) ? undefined : name;
}

/** Directives stand between commas; blanks and semicolons are forgiven. */
function apply(text: string, directives: RobotsDirectives): void {
  for (const word of text.split(/[\s,;]+/)) {
    if (word === "noindex" || word === "none") directives.noindex = true;
    if (word === "nofollow" || word === "none") directives.nofollow = true;
  }
}
