// How long may this answer be kept? Cache-Control of RFC 9111 5.2.2, as far as one private cache cares.

/** Milliseconds; 0 for no-store and no-cache; undefined where nothing usable is said. */
export function maxAgeMs(cacheControl: string | undefined): number | undefined {
  if (cacheControl === undefined) return undefined;
  const directives = cacheControl
    .toLowerCase()
    .split(",")
    .map((directive) => directive.trim());
  if (directives.some((directive) => directive === "no-store" || directive === "no-cache")) return 0;
  const seconds = directives
    .map((directive) => /^max-age="?(\d{1,10})"?$/.exec(directive)?.[1])
    .find((value) => value !== undefined);
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
