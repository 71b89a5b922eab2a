// Was the crawl polite? Judged request by request as they end, from the server's side, with a few numbers a host and no log.
import type { RequestLogEntry } from "../lib/web-server.ts";
import { FORBIDDEN, type SoakSite } from "./site.ts";

export interface JudgeOptions {
  /** By whole host name. */
  sites: ReadonlyMap<string, SoakSite>;
  /** What the crawl was told to keep between an answer and the next request. */
  delayMs: number;
}

/** Hosts that are owed one delay. */
export interface DelayClass {
  owedMs: number;
  requests: number;
  /** From an answer's first byte to the next request; Infinity where there were fewer than two. */
  smallestGapMs: number;
}

export interface Judgement {
  requests: number;
  /** Answered with 200; robots.txt and sitemaps apart. */
  pages: number;
  hosts: number;
  /** Requests by the kind of their host. */
  kinds: ReadonlyMap<string, number>;
  classes: readonly DelayClass[];
  /** Answers that asked for rest, and the smallest time from the end of that rest to the next request. */
  rests: number;
  smallestRestMs: number;
  violations: number;
  /** The first of them, a line each. */
  samples: readonly string[];
}

export interface SoakJudge {
  /** One host's entries come in the order of their ends. */
  take(entry: RequestLogEntry): void;
  /** Somebody came where nobody may. */
  trespass(where: string): void;
  judgement(): Judgement;
}

/** Violations that are named. */
const SAMPLES_MAX = 20;

interface Seen {
  /** When the last answer began, or the request ended that got none. */
  answeredAt: number;
  robots: boolean;
  restUntil: number | undefined;
}

export function soakJudge({ sites, delayMs }: JudgeOptions): SoakJudge {
  const seen = new Map<string, Seen>();
  const kinds = new Map<string, number>();
  const classes = new Map<number, DelayClass>();
  const samples: string[] = [];
  const sums = { requests: 0, pages: 0, rests: 0, smallestRestMs: Infinity, violations: 0 };

  function blame(line: string): void {
    sums.violations += 1;
    if (samples.length < SAMPLES_MAX) samples.push(line);
  }

  function take(entry: RequestLogEntry): void {
    sums.requests += 1;
    const site = sites.get(entry.host);
    if (site === undefined) return blame(`${entry.host}${entry.path} was asked for, a host that is none of the web's`);
    kinds.set(site.kind, (kinds.get(site.kind) ?? 0) + 1);
    const robots = entry.path === "/robots.txt";
    if (entry.status === 200 && !robots && entry.path !== "/sitemap.xml") sums.pages += 1;
    const known = seen.get(entry.host);
    judgePath(entry, site, known);
    judgeTime(entry, Math.max(delayMs, site.crawlDelayMs ?? 0), known);
    const rest = restOf(entry);
    if (rest !== undefined) sums.rests += 1;
    seen.set(entry.host, {
      answeredAt: entry.answeredAt ?? entry.endedAt ?? entry.startedAt,
      robots: robots || known?.robots === true,
      // A rest that is over was judged; one that is not stands.
      restUntil: rest ?? (known?.restUntil !== undefined && known.restUntil > entry.startedAt ? known.restUntil : undefined),
    });
  }

  function judgePath({ host, path, concurrent }: RequestLogEntry, site: SoakSite, known: Seen | undefined): void {
    if (concurrent > 1) blame(`${host}${path} was asked for while another request was under way`);
    if (path === "/robots.txt") return;
    if (known?.robots !== true) blame(`${host}${path} was asked for before robots.txt was answered`);
    if (site.locked === true) blame(`${host}${path} was asked for, though robots.txt never came`);
    if (path.startsWith(FORBIDDEN)) blame(`${host}${path} was asked for, which robots.txt forbids`);
  }

  function judgeTime({ host, path, startedAt }: RequestLogEntry, owedMs: number, known: Seen | undefined): void {
    const ours = classes.get(owedMs) ?? { owedMs, requests: 0, smallestGapMs: Infinity };
    classes.set(owedMs, ours);
    ours.requests += 1;
    if (known === undefined) return;
    const gapMs = startedAt - known.answeredAt;
    ours.smallestGapMs = Math.min(ours.smallestGapMs, gapMs);
    if (gapMs < owedMs) blame(`${host}${path} was asked for ${gapMs.toFixed(1)} ms after an answer, not ${owedMs}`);
    if (known.restUntil === undefined) return;
    const restMs = startedAt - known.restUntil;
    sums.smallestRestMs = Math.min(sums.smallestRestMs, restMs);
    if (restMs < 0) blame(`${host}${path} was asked for ${(-restMs).toFixed(1)} ms before the end of a Retry-After`);
  }

  return {
    take,
    trespass: (where) => blame(`${where} was connected to, an address that the crawl may not go to`),
    judgement: () => ({
      ...sums,
      hosts: seen.size,
      kinds,
      classes: [...classes.values()].sort((one, other) => one.owedMs - other.owedMs),
      samples,
    }),
  };
}

/** Until when the answer asks for rest, Unix ms; seconds or a date, RFC 9110 10.2.3. */
function restOf({ retryAfter, answeredAt }: RequestLogEntry): number | undefined {
  if (retryAfter === undefined || answeredAt === undefined) return undefined;
  return /^\d+$/.test(retryAfter) ? answeredAt + 1000 * Number(retryAfter) : Date.parse(retryAfter);
}
