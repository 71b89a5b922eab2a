// What does a host allow? Read from the crawl's configuration and the operator's orders anew; a pace key is the host's name here.
import type { CrawlConfig, HostPolicy, TrapLimits } from "../../../schemas/crawl-config.ts";
import type { SimOrder } from "../orders.ts";
import { kept } from "./kept.ts";

export interface Allowance {
  /** Between an answer and the next request; between two requests where more than one may be open. */
  delayMs: number;
  concurrency: number;
  pagesMax: number;
  /** Of one UTC day. */
  pagesPerDay: number;
  bytesPerDay: number;
  paused: boolean;
}

/** Who agreed to nothing is asked once a second at most, and one thing at a time, whatever the crawl's settings say. */
const UNAGREED_DELAY_MS = 1_000;
/** A running crawl obeys an order within this. */
export const OBEYED_MS = 10_000;

/** What the crawl's own configuration allows, whatever is ordered later. Answers are kept: ask as often as need be. */
export function allowances(config: CrawlConfig): (host: string) => Allowance {
  const known = new Map<string, Allowance>();
  return (host) => kept(known, host, () => allowanceOf(config, config.policies, host));
}

/** What is allowed at a time: the laxest of what stood within `lateMs` before it, and what stands at it (0). */
export function allowancesAt(
  config: CrawlConfig,
  orders: readonly SimOrder[],
): (host: string, at: number, lateMs: number) => Allowance {
  const usual = allowances(config);
  const named = new Set(orders.flatMap(({ policies }) => policies.hosts.map(({ host }) => host)));
  const known = new Map<string, Allowance>();
  const inOrder = (order: SimOrder | undefined, host: string): Allowance =>
    order === undefined
      ? usual(host)
      : kept(known, `${order.at} ${host}`, () => allowanceOf(config, [...order.policies.hosts, ...config.policies], host));
  return (host, at, lateMs) => {
    if (!named.has(host)) return usual(host);
    const all = standing(orders, at - lateMs, at).map((order) => inOrder(order, host));
    return {
      ...all[0]!,
      delayMs: Math.min(...all.map(({ delayMs }) => delayMs)),
      concurrency: Math.max(...all.map(({ concurrency }) => concurrency)),
      paused: all.every(({ paused }) => paused),
    };
  };
}

/** The orders of which each was in force at some time from `from` to `to`; undefined: before the first. */
export function standing(orders: readonly SimOrder[], from: number, to: number): (SimOrder | undefined)[] {
  const first = orders.findLastIndex(({ at }) => at <= from);
  const last = orders.findLastIndex(({ at }) => at <= to);
  return [...(first < 0 ? [undefined] : []), ...orders.slice(Math.max(0, first), last + 1)];
}

/** Each field is decided by the first policy about the whole host that sets it. */
function allowanceOf(config: CrawlConfig, policies: readonly HostPolicy[], host: string): Allowance {
  const ours = policies.filter((policy) => policy.pattern === undefined && names(policy.host, host));
  const set = <F extends keyof HostPolicy>(field: F) => ours.find((policy) => policy[field] !== undefined)?.[field];
  const limit = (name: keyof TrapLimits) => ours.find(({ limits }) => limits?.[name] !== undefined)?.limits?.[name];
  const agreed = ours.some((policy) => policy.agreed !== false);
  const delayMs = set("delayMs") ?? config.delayMs;
  return {
    delayMs: agreed ? delayMs : Math.max(delayMs, UNAGREED_DELAY_MS),
    concurrency: agreed ? (set("concurrency") ?? config.hostConcurrency) : 1,
    pagesMax: set("pagesMax") ?? config.pagesPerHost,
    pagesPerDay: limit("pagesPerDay") ?? Number.POSITIVE_INFINITY,
    bytesPerDay: limit("bytesPerDay") ?? Number.POSITIVE_INFINITY,
    paused: (set("paused") ?? false) || (set("excluded") ?? false),
  };
}

export function names(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === host;
  const domain = pattern.slice(2);
  return host === domain || host.endsWith(`.${domain}`);
}
