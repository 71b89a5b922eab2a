// Which method of Cloud Storage does an HTTP request call? Names of its JSON API, with the steps of an upload told apart.
const ROUTES: readonly [verb: string, path: RegExp, method: string][] = [
  ["GET", /^\/b$/, "buckets.list"],
  ["POST", /^\/b$/, "buckets.insert"],
  ["GET", /^\/b\/[^/]+$/, "buckets.get"],
  ["PATCH", /^\/b\/[^/]+$/, "buckets.patch"],
  ["DELETE", /^\/b\/[^/]+$/, "buckets.delete"],
  ["GET", /^\/b\/[^/]+\/o$/, "objects.list"],
  ["POST", /^\/b\/[^/]+\/o$/, "objects.insert"],
  ["PUT", /^\/b\/[^/]+\/o$/, "objects.insert.chunk"],
  ["POST", /^\/b\/[^/]+\/o\/[^/]+\/compose$/, "objects.compose"],
  ["POST", /^\/b\/[^/]+\/o\/[^/]+\/rewriteTo\//, "objects.rewrite"],
  ["POST", /^\/b\/[^/]+\/o\/[^/]+\/copyTo\//, "objects.copy"],
  ["GET", /^\/b\/[^/]+\/o\/[^/]+$/, "objects.get"],
  ["PATCH", /^\/b\/[^/]+\/o\/[^/]+$/, "objects.patch"],
  ["DELETE", /^\/b\/[^/]+\/o\/[^/]+$/, "objects.delete"],
];

/**
 * `objects.insert` also with `.begin` (a resumable session is asked for) and `.chunk` (bytes go to it), `objects.get` also with
 * `.media` (the bytes). What is not known is its verb and path.
 */
export function storageMethod(verb: string, target: string): string {
  const { pathname, searchParams } = new URL(target, "http://storage");
  const path = pathname.replace(/^(?:\/upload|\/download)?\/storage\/v1/, "");
  const method = ROUTES.find(([of, pattern]) => of === verb && pattern.test(path))?.[2] ?? `${verb} ${pathname}`;
  if (method === "objects.insert" && searchParams.get("uploadType") === "resumable") return "objects.insert.begin";
  if (method === "objects.get" && searchParams.get("alt") === "media") return "objects.get.media";
  return method;
}
