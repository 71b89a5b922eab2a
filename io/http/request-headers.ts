// Which headers leave with a request, in which order? Those given, and the few that the connection itself needs.

type Headers = [name: string, value: string][];

/** As undici writes them: host and connection first. Of the given ones, those that are not the caller's to set are left out. */
export function requestHeaders(host: string, given: Readonly<Record<string, string>>): Headers {
  return [["host", host], ["connection", "keep-alive"], ...allowed(given), acceptEncoding];
}

/** The same for HTTP/2 (RFC 9113 8.3.1): names in lower case, the target in pseudo-headers. */
export function http2Headers({ host, path }: { host: string; path: string }, given: Readonly<Record<string, string>>): Headers {
  const lower = allowed(given).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const target: Headers = [
    [":method", "GET"],
    [":scheme", "https"],
    [":authority", host],
    [":path", path],
  ];
  return [...target, ...lower, acceptEncoding];
}

/** What of them no request can carry: node:http2 does not look. */
export function unsendable(headers: Readonly<Headers>): string | undefined {
  const wrong = headers.find(([name, value]) => !NAME.test(name) || NO_VALUE.test(value));
  return wrong === undefined ? undefined : `invalid header ${JSON.stringify(wrong[0])}`;
}

const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/; // RFC 9110 5.6.2, in lower case
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/; // RFC 9110 5.5

const acceptEncoding: Headers[number] = ["accept-encoding", "gzip, deflate, br, zstd"];

function allowed(given: Readonly<Record<string, string>>): Headers {
  return Object.entries(given).filter(([name]) => !ours.has(name.toLowerCase()));
}

const ours = new Set([
  "host",
  "connection",
  "accept-encoding", // what decode.ts reads
  "cookie", // a crawler is nobody
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);
