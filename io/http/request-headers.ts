// Which headers leave with a request, in which order? Those given, and the few that the connection itself needs.

/** As undici writes them: host and connection first. Of the given ones, those that are not the caller's to set are left out. */
export function requestHeaders(host: string, given: Readonly<Record<string, string>>): [name: string, value: string][] {
  const rest = Object.entries(given).filter(([name]) => !ours.has(name.toLowerCase()));
  return [["host", host], ["connection", "keep-alive"], ...rest, ["accept-encoding", "gzip, deflate, br, zstd"]];
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
