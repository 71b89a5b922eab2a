// How many links of one page are followed? A bound on distinct targets, so that repeats and links to the page itself cost no place.

export interface FanOut {
  /** In page order, each once. */
  urls: string[];
  /** Distinct URLs beyond the bound: reason `fan-out`. */
  refused: number;
}

/** `urls` and `pageUrl` are canonical. */
export function withinFanOut(urls: readonly string[], pageUrl: string, linksPerPage: number): FanOut {
  const distinct = new Set(urls);
  distinct.delete(pageUrl);
  const all = [...distinct];
  return { urls: all.slice(0, linksPerPage), refused: Math.max(0, all.length - linksPerPage) };
}
