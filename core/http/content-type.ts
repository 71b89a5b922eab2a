// What does a body claim to be, and do we read it? MIME types as the WHATWG MIME Sniffing standard parses them.

export interface ContentType {
  /** type/subtype in lower case; "" where there is none to be read. */
  type: string;
  /** As given, quotes removed. */
  charset?: string;
}

/** Of repeated or comma-joined values the last readable one counts, and keeps the charset of an equal type before it (Fetch standard). */
export function parseContentType(header: string): ContentType {
  let found: ContentType = { type: "" };
  for (const value of splitOutsideQuotes(header, ",")) {
    const parsed = parseMimeType(value);
    if (parsed === undefined || parsed.type === "*/*") continue;
    const keeps = parsed.charset === undefined && parsed.type === found.type;
    found = keeps ? found : parsed;
  }
  return found;
}

export type BodyClass = "html" | "text" | "xml" | "feed" | "other-accepted";

const CLASSES: ReadonlyMap<string, BodyClass> = new Map([
  ["", "html"], // nothing said: most often a page, which its bytes will tell
  ["unknown/unknown", "html"], // WHATWG MIME Sniffing 7: as good as nothing
  ["application/unknown", "html"],
  ["text/html", "html"],
  ["application/xhtml+xml", "html"],
  ["text/plain", "text"],
  ["text/xml", "xml"],
  ["application/xml", "xml"],
  ["application/rss+xml", "feed"],
  ["application/atom+xml", "feed"],
  ["application/rdf+xml", "feed"],
]);

/** What servers call a gzipped sitemap. */
const GZIP_TYPES = new Set(["application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream"]);

/**
 * How to read a body of this type, or undefined: not at all. `acceptTypes` are further types: one, all of a family, or all.
 * A gzip type is a sitemap where the URL's path ends in .xml.gz.
 */
export function bodyClass(type: string, url: string, acceptTypes: readonly string[]): BodyClass | undefined {
  const known = CLASSES.get(type);
  if (known !== undefined) return known;
  if (GZIP_TYPES.has(type) && /^[^?#]*\.xml\.gz(?:[?#]|$)/i.test(url)) return "xml";
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  const accepted = acceptTypes.some((accept) => {
    const wanted = accept.toLowerCase();
    return wanted === type || wanted === family || wanted === "*/*";
  });
  return accepted ? "other-accepted" : undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const QUOTABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

function parseMimeType(value: string): ContentType | undefined {
  const [essence = "", ...parameters] = splitOutsideQuotes(value, ";");
  const slash = essence.indexOf("/");
  const type = trimStart(essence.slice(0, Math.max(slash, 0)));
  const subtype = trimEnd(essence.slice(slash + 1));
  if (!TOKEN.test(type) || !TOKEN.test(subtype)) return undefined;
  const parsed: ContentType = { type: `${type}/${subtype}`.toLowerCase() };
  for (const parameter of parameters) {
    const charset = charsetOf(parameter);
    if (charset === undefined) continue;
    parsed.charset = charset;
    break;
  }
  return parsed;
}

function charsetOf(parameter: string): string | undefined {
  const equals = parameter.indexOf("=");
  if (equals < 0 || trimStart(parameter.slice(0, equals)).toLowerCase() !== "charset") return undefined;
  const raw = parameter.slice(equals + 1);
  const value = raw.startsWith('"') ? unquote(raw) : trimEnd(raw);
  if (value === "" && !raw.startsWith('"')) return undefined;
  return QUOTABLE.test(value) ? value : undefined;
}

/** The text of a quoted string, a missing end forgiven, what follows it ignored. */
function unquote(raw: string): string {
  let text = "";
  for (let at = 1; at < raw.length && raw[at] !== '"'; at++) {
    if (raw[at] === "\\" && at + 1 < raw.length) at++;
    text += raw[at];
  }
  return text;
}

/** Parts between separators; a quote opens only where a parameter's value begins, and hides separators to its end. */
function splitOutsideQuotes(text: string, separator: "," | ";"): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === "\\") at++;
    else if (character === '"') quoted = !quoted && text[at - 1] === "=";
    else if (character === separator && !quoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

function trimStart(text: string): string {
  return text.replace(/^[\t\n\r ]+/, "");
}

/** Walks back by hand: a regular expression for trailing blanks is quadratic. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && "\t\n\r ".includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
