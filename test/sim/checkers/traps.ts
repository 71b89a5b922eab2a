// Does an endless series stay within its bounds? Records of each pattern, of URLs that no rule takes, and pages whose answer says nothing.
import type { FetchEvent } from "../../../schemas/events.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { World } from "../world.ts";
import { pageAt } from "../world.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { patternSizes, sketchError } from "./links.ts";
import { urlRows } from "./tables.ts";
import { hostOf, type UrlPattern, urlRules } from "./url-rules.ts";

/** Links of a page that lead on in a series, at most. */
const LINKS = 4;
/** Bundles that are judged side by side count on their own until they are written: what they took in at once is beyond the limit. */
const AT_ONCE = 10;

/** Distinct URLs that are told to have one answer may be that many more than they are (linear counting in 256 bits, four errors). */
const answerError = (urls: number): number => Math.ceil(2 + 0.25 * urls);

/** An answer that was seen once is remembered for so many others: where such pages are rarer, one may be followed and forgotten. */
const REMEMBERED = 32;

export function traps(facts: SimFacts): Checker {
  const { now, world } = facts;
  const violations = new Violations();
  const rules = urlRules(facts);
  const asked = new Map<string, number>();
  const deaths: number[] = [];
  const silent = silentHosts(facts, violations, { asked, deaths });
  const figures = { patterns: 0, patternsFull: 0, patternMostOver: Number.NEGATIVE_INFINITY, pagesOfNothingFollowed: 0 };

  /** Records that a pattern may have. The sample thins out: each doubling of the URLs offered gives as many. */
  function most({ name, urlsMax, sampleOneIn }: UrlPattern): number {
    const host = name.slice(0, name.indexOf(" "));
    const offered = LINKS * (asked.get(host) ?? 0) + urlsMax;
    const sampled = (urlsMax / sampleOneIn) * Math.ceil(Math.log2(Math.max(2, offered / urlsMax)));
    const spread = 4 * Math.sqrt(sampled) + 4;
    return urlsMax + sketchError(urlsMax) + sampled + spread + AT_ONCE;
  }

  return {
    name: "traps",
    violations,
    figures: () => ({ ...figures, pagesOfNothingFollowed: silent.followed() }),
    crashed() {
      deaths.push(now());
    },
    arrived({ host }) {
      asked.set(host, (asked.get(host) ?? 0) + 1);
    },
    discovered(message) {
      if (message.source === "link" && message.from !== undefined) silent.discovered(message.from);
    },
    published(kind, event) {
      if (kind === "fetch") silent.fetched(event as FetchEvent);
    },
    async finish(final) {
      for (const pattern of (await patternSizes(final, rules)).values()) {
        const records = pattern.urls.length;
        figures.patterns++;
        if (records > pattern.urlsMax) figures.patternsFull++;
        figures.patternMostOver = Math.max(figures.patternMostOver, records - most(pattern));
        if (records > most(pattern))
          violations.add(`${pattern.name}: ${records} records, where ${pattern.urlsMax} and a sample are the limit`);
      }
      for await (const rows of urlRows(final)) {
        for (const { record } of rows) {
          const why = isSeed(record, world) ? undefined : rules.refused(record.canonicalUrl);
          if (why !== undefined) violations.add(`${record.canonicalUrl}: ${why}, and has a record`);
          if (record.foundAs !== undefined && rules.wanted(record.foundAs) === record.foundAs)
            violations.add(`${record.canonicalUrl}: was found as ${record.foundAs}, which no rule changes`);
        }
      }
      silent.finish();
    },
  };
}

function isSeed({ canonicalUrl, depth }: UrlState, { hosts }: World): boolean {
  return depth === 0 && canonicalUrl === `http://${hosts[0]!.name}/`;
}

/**
 * Hosts that answer whatever is asked with one text. Each worker learns it anew, and one that begins knows nothing: so many pages may be
 * followed by each.
 */
function silentHosts(
  { config, now, workersAtOnce = 1, world }: SimFacts,
  violations: Violations,
  { asked, deaths }: { asked: ReadonlyMap<string, number>; deaths: readonly number[] },
) {
  const followed = new Map<string, Set<string>>();
  const kindOf = (url: string) => {
    const host = world.byName.get(hostOf(url));
    return host && pageAt(world, host, url.slice(url.indexOf("/", "http://".length)), now())?.kind;
  };
  const urlsMax = (host: string): number =>
    config.policies.find((policy) => policy.host === host && policy.limits?.softNotFoundUrls !== undefined)?.limits
      ?.softNotFoundUrls ?? Number.POSITIVE_INFINITY;

  return {
    followed: () => [...followed.values()].reduce((sum, { size }) => sum + size, 0),
    discovered(from: string): void {
      const host = hostOf(from);
      if (world.byName.get(host)?.trap !== "anything" || kindOf(from) !== "nothing") return;
      const pages = followed.get(host) ?? new Set();
      followed.set(host, pages.add(from));
    },
    fetched({ url, reason }: FetchEvent): void {
      if (reason === "soft-404" && kindOf(url) === "own") violations.add(`${url}: withheld, and its text is like no other`);
    },
    finish(): void {
      const workers = deaths.length + workersAtOnce;
      for (const [host, { size }] of followed) {
        const most = urlsMax(host);
        const forgotten = Math.floor((asked.get(host) ?? 0) / REMEMBERED);
        if (size > workers * (most + answerError(most)) + forgotten)
          violations.add(`${host}: ${size} pages with one text were followed, ${most} are the limit, by ${workers} workers`);
      }
    },
  };
}
