// How are attribute values and texts of a page read? The small grammars of the HTML standard.
import { limits } from "../../schemas/limits.ts";

/** Runs of blanks become one space, at the ends none. */
export function collapse(text: string): string {
  return text.replace(RUNS, " ").trim();
}

/** Blanks that are no single space: a text has a hundred times as many single spaces, which need not be replaced by themselves. */
const RUNS = /[^\S ]\s*| \s+/g;

/** Whether a space-separated list of tokens holds this one, given in lower case. */
export function hasToken(list: string | undefined, token: string): boolean {
  return (
    list
      ?.toLowerCase()
      .split(/[\t\n\f\r ]+/)
      .includes(token) ?? false
  );
}

/** The fragment never reaches a server. A blank before it would then be at the end, where the URL parser drops it: such stay whole. */
export function withoutFragment(href: string): string {
  const mark = href.indexOf("#");
  return mark < 0 || (mark > 0 && href.charCodeAt(mark - 1) <= 0x20) ? href : href.slice(0, mark);
}

const LANGUAGE_CHARS_MAX = 35; // BCP 47 4.4.1: implementations need no longer tag

/** A language tag as it stands, or undefined where it cannot be one. */
export function languageOf(value: string | undefined): string | undefined {
  const tag = value?.trim();
  return tag !== undefined && tag.length <= LANGUAGE_CHARS_MAX && /^[a-z]{1,8}([-_][a-z0-9]{1,8})*$/i.test(tag)
    ? tag
    : undefined;
}

/** HTML 4.2.5.3, "shared declarative refresh steps": the URL in the content of a meta refresh, or undefined where it names none. */
export function refreshTarget(content: string): string | undefined {
  const head = /^[\t\n\f\r ]*(?:\d[\d.]*|\.[\d.]*)(?=[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*/.exec(content);
  if (head === null) return undefined;
  const rest = content.slice(head[0].length).replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, "");
  const quote = rest[0];
  const end = quote === '"' || quote === "'" ? rest.indexOf(quote, 1) : -1;
  const target = quote === '"' || quote === "'" ? rest.slice(1, end < 0 ? rest.length : end) : rest;
  return target.trim() === "" || target.length > limits.attributeChars ? undefined : target;
}
