// Under which key does an index of captures sort a URL? The sort-friendly form that Wayback machines look up.

/**
 * Host labels reversed, `)`, path and query in lower case, the query's parts sorted, session ids left out: what the surt package for
 * Python and so pywb make of an http(s) URL as our normaliser writes it. ASCII without spaces. Never throws; any text gives a key.
 */
export function surt(url: string): string {
  const text = Buffer.from(url.trim().replace(/[\n\r\t]/g, ""), "utf8").toString("latin1");
  const [, scheme = "http", authority = "", path = "", query = ""] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/i.exec(text)!;
  const { host, port } = splitAuthority(authority);
  const sortedQuery = sortQuery(withoutSession(escaped(unescaped(query)), querySessions).toLowerCase());
  const portPart = port === "" || port === defaultPorts[scheme.toLowerCase()] ? "" : `:${port}`;
  return `${hostKey(host)}${portPart})${pathKey(path)}${sortedQuery === "" ? "" : `?${sortedQuery}`}`;
}

const defaultPorts: Record<string, string> = { http: "80", https: "443" };

function splitAuthority(authority: string): { host: string; port: string } {
  const afterUser = authority.slice(authority.lastIndexOf("@") + 1);
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/.exec(afterUser)!;
  return { host: host.replace(/^\[|\]$/g, ""), port: port.replace(/^0+(?=\d)/, "") };
}

function hostKey(host: string): string {
  const plain = unescaped(host)
    .replaceAll("..", ".")
    .replace(/^\.+/, "")
    .replace(/(?<!\.)\.+$/, "");
  return escaped(plain.toLowerCase())
    .replace(/^www\d*\./, "")
    .split(".")
    .reverse()
    .join(",");
}

function pathKey(path: string): string {
  const lower = escaped(withoutDots(unescaped(path))).toLowerCase();
  const stripped = withoutSession(lower, pathSessions);
  return stripped.length > 1 && stripped.endsWith("/") ? stripped.slice(0, -1) : stripped;
}

/** Dot segments are taken back, empty ones left out. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/").slice(1)) {
    if (part === ".") continue;
    if (part === ".." && kept.length > 0) kept.pop();
    else kept.push(part);
  }
  const last = kept.pop() ?? "";
  return `/${kept.map((part) => (part === "" ? "" : `${part}/`)).join("")}${last}`;
}

/** By name, then those without a value, then by value. */
function sortQuery(query: string): string {
  if (query.length < 2) return query;
  const parts = query.split("&").map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? { part, name: part } : { part, name: part.slice(0, at), value: part.slice(at + 1) };
  });
  parts.sort((a, b) => compare(a.name, b.name) || compare(a.value ?? "", b.value ?? "") || a.part.length - b.part.length);
  return parts.map(({ part }) => part).join("&");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const querySessions = [
  /^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$/i,
  /^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$/i,
  /^(.*)sid=[0-9a-z]{32}(?:&(.*))?$/i,
  /^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$/i,
  /^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$/i,
];
const pathSessions = [/^(.*\/)\((?:[a-z]\([0-9a-z]{24}\))+\)\/([^?]+\.aspx.*)$/, /^(.*\/)\([0-9a-z]{24}\)\/([^?]+\.aspx.*)$/];

function withoutSession(text: string, sessions: readonly RegExp[]): string {
  return sessions.reduce((rest, session) => {
    const match = session.exec(rest);
    return match ? match[1]! + (match[2] ?? "") : rest;
  }, text);
}

/** Percent escapes undone until none is left, in one pass: a new character may complete an escape that ends with it. */
function unescaped(text: string): string {
  if (!text.includes("%")) return text;
  const out: string[] = [];
  for (const char of text) {
    out.push(char);
    while (out.length > 2 && out.at(-3) === "%" && HEX.test(out.at(-2)!) && HEX.test(out.at(-1)!)) {
      const code = Number.parseInt(out.at(-2)! + out.at(-1)!, 16);
      out.splice(-3, 3, String.fromCharCode(code));
    }
  }
  return out.join("");
}

const HEX = /^[0-9a-f]$/i;

/** One escape for each byte that is not printable ASCII, and for `#` and `%`. */
function escaped(text: string): string {
  return text.replace(/[^!"$&-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
