// Which URLs of a message must become records, and which patterns have a limit? Told anew from the words of the rules, for the URLs that
// the virtual web has; the crawler's own judges are not asked.
import { hostNameOf, registrableDomain } from "../../../core/url/keys.ts";
import type { CrawlConfig, HostPolicy, TrapLimits } from "../../../schemas/crawl-config.ts";
import type { SimFacts } from "./checker.ts";
import { kept } from "./kept.ts";

export interface UrlPattern {
  /** Of one host; the same for all URLs that are counted together. */
  name: string;
  urlsMax: number;
  sampleOneIn: number;
}

export interface UrlRules {
  /** The one spelling of a URL that must have a record; undefined where the crawl does not take it. `from`: the page that links to it. */
  wanted(raw: string, from?: string): string | undefined;
  /** Why no URL like this may be a record; undefined where nothing is wrong with it. */
  refused(url: string): string | undefined;
  /** Whether URLs of its host are found in other spellings too. */
  respelt(url: string): boolean;
  /** The pattern of the URL where a policy bounds its number. */
  patternOf(url: string): UrlPattern | undefined;
}

const URL_CHARS = 2_048;
const SEGMENTS_MAX = 20;
const RUN_MAX = 2; // the same segments in a row
const REPEATS_MAX = 3; // segments that stand in the path before
const SAMPLE_ONE_IN = 100; // by default

export function urlRules({ config, orders = [] }: Pick<SimFacts, "config" | "orders">): UrlRules {
  const states = [config.policies, ...orders.map(({ policies }) => [...policies.hosts, ...config.policies])];
  const ofHost = new Map<string, HostRules>();
  const rulesOf = (host: string): HostRules => kept(ofHost, host, () => hostRules(config.policies, states, host));

  function canonical(raw: string): URL | undefined {
    const url = URL.parse(raw);
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
    url.hash = "";
    if (url.search !== "" && rulesOf(url.hostname).stripped) url.search = withoutSessions(url.search.slice(1));
    return url;
  }

  return {
    wanted(raw, from) {
      if (from !== undefined && echoes(from, raw)) return undefined;
      const url = canonical(raw);
      if (url === undefined || url.href.length > URL_CHARS || !inScope(url.href, config)) return undefined;
      if (shapeOf(url) !== undefined) return undefined;
      // One that was excluded for a while may have been refused then, and linked no more.
      return rulesOf(url.hostname).everExcluded(url.href) ? undefined : url.href;
    },
    refused(url) {
      const parsed = canonical(url);
      if (parsed === undefined) return "is none that the crawl takes";
      if (parsed.href !== url) return "is not spelt as its host's rules have it";
      return shapeOf(parsed) ?? (rulesOf(parsed.hostname).excluded(url) ? "is excluded" : undefined);
    },
    respelt: (url) => rulesOf(hostOf(url)).stripped,
    patternOf(url) {
      const host = hostOf(url);
      const limited = rulesOf(host).limited(url);
      return limited === undefined ? undefined : { ...limited, name: `${host} ${patternWords(url)}` };
    },
  };
}

interface HostRules {
  /** Session ids are taken off. */
  stripped: boolean;
  excluded(url: string): boolean;
  /** At some time of the run. */
  everExcluded(url: string): boolean;
  limited(url: string): Omit<UrlPattern, "name"> | undefined;
}

function hostRules(config: readonly HostPolicy[], states: readonly (readonly HostPolicy[])[], host: string): HostRules {
  const ofHost = (policies: readonly HostPolicy[]): HostPolicy[] => policies.filter((policy) => policy.host === host);
  const own = ofHost(config);
  const excluding = states.map(ofHost).filter((policies) => policies.some(({ excluded }) => excluded));
  const limiting = own.some(
    ({ limits }) => limits?.urlsPerTemplate !== undefined || limits?.urlsPerQueryTemplate !== undefined,
  );
  return {
    stripped: own.some(({ parameterRules }) => parameterRules?.includes("session-ids")),
    excluded: (url) => own.some((policy) => policy.excluded === true && covers(policy, url)),
    everExcluded: (url) => excluding.some((policies) => policies.some((policy) => policy.excluded && covers(policy, url))),
    limited(url) {
      if (!limiting) return undefined;
      const limit = (name: keyof TrapLimits) =>
        own.find((policy) => policy.limits?.[name] !== undefined && covers(policy, url))?.limits?.[name];
      const urlsMax = limit(url.includes("?") ? "urlsPerQueryTemplate" : "urlsPerTemplate");
      return urlsMax === undefined ? undefined : { urlsMax, sampleOneIn: limit("sampleOneIn") ?? SAMPLE_ONE_IN };
    },
  };
}

/** The patterns of the virtual world are all of one form: what a URL begins with. */
export function covers({ pattern }: HostPolicy, url: string): boolean {
  return pattern === undefined || url.startsWith(pattern.slice(0, pattern.indexOf("*")));
}

export function hostOf(url: string): string {
  const from = url.indexOf("//") + 2;
  return url.slice(from, url.indexOf("/", from));
}

function inScope(url: string, { scope }: CrawlConfig): boolean {
  if (scope.mode === "any") return true;
  const name = hostNameOf(url);
  return scope.mode === "host" ? scope.hosts.includes(name) : scope.domains.includes(registrableDomain(name));
}

function withoutSessions(query: string): string {
  return query
    .split("&")
    .filter((pair) => !pair.startsWith("sessionid="))
    .join("&");
}

/** Whether a page with a query links to itself with what it asks for once more. */
function echoes(from: string, url: string): boolean {
  if (!from.includes("?") || !url.startsWith(from) || url.length === from.length) return false;
  return standTwice(url.slice(url.indexOf("?") + 1));
}

function standTwice(query: string): boolean {
  const pairs = query.split(/[?&]/);
  return new Set(pairs).size < pairs.length;
}

/** What is wrong with its path or its query. A pair that stands twice comes of echoes alone in the virtual web. */
function shapeOf({ pathname, search }: URL): string | undefined {
  if (search !== "" && standTwice(search.slice(1))) return "asks for one thing twice";
  const segments = pathname.split("/").filter((segment) => segment !== "");
  if (segments.length < 2) return undefined;
  if (segments.length > SEGMENTS_MAX) return "is too deep";
  if (segments.filter((segment) => segment.startsWith("www.")).length > 1) return "has host names in its path";
  if (segments.length - new Set(segments).size > REPEATS_MAX) return "repeats its segments";
  return segments.some((_, at) => runsFrom(segments, at)) ? "repeats its segments in a row" : undefined;
}

/** Whether some segments from `at` on stand three times, one after the other; not numbers alone. */
function runsFrom(segments: readonly string[], at: number): boolean {
  for (let length = 1; at + (RUN_MAX + 1) * length <= segments.length; length++) {
    const run = segments.slice(at, at + (RUN_MAX + 1) * length);
    if (run.every((segment, index) => segment === run[index % length]) && !run.every((segment) => /^\d+$/.test(segment)))
      return true;
  }
  return false;
}

/** Directories stand, the page is any; of a query with one parameter its name without numbers, of a longer one that it is longer. */
function patternWords(url: string): string {
  const { pathname, search } = new URL(url);
  const at = pathname.lastIndexOf("/");
  const page = pathname.slice(at + 1);
  const named = search !== "" && /^[a-z]+$/.test(page) ? page : page === "" ? "" : "*";
  const [pair, ...more] = search === "" ? [] : search.slice(1).split("&");
  const query = pair === undefined ? "" : more.length > 0 ? "?2+" : `?${pair.split("=")[0]!.replace(/\d+/g, "#")}`;
  return `${pathname.slice(0, at + 1)}${named}${query}`;
}
