// What is the virtual web like? Hosts drawn from the seed; each answer follows from host, path, time and seed alone.
import { chance, hashOf, shareOf } from "./chance.ts";
import { pageOf, type SimPage, seriesPage } from "./pages.ts";
import { ordinaryPage, type Trap, trapLinks, trapOf } from "./traps.ts";

export interface SimHost {
  index: number;
  name: string;
  pages: number;
  /** What its owner agreed to, if anything: a policy of the crawl. */
  agreed?: { delayMs: number; concurrency: number };
  /** Crawl-delay by robots version, s; 0: none. */
  crawlDelays: [number, number];
  /** When robots.txt changes from its first to its second version, Unix ms. */
  robotsChangeAt: number;
  /** How robots.txt is answered. */
  robots: "rules" | "missing" | "failing-at-first" | "redirected" | "throttled-at-first";
  /** Prefix /d is disallowed by version. */
  disallows: [boolean, boolean];
  latencyMs: number;
  /** Share of answers that are 429 or 503, stall, or reset. */
  throttles: number;
  stalls: number;
  resets: number;
  serverErrors: number;
  redirects: number;
  /** Share of its links that lead to other hosts. */
  linksAway: number;
  /** Pages change each so many ms; 0: never. */
  changeMs: number;
  /** The endless series that it has, if any. */
  trap?: Trap | undefined;
  /** From then on the name leads to a private address. */
  privateFrom?: number;
  /** Refuses connections until then. */
  downUntil: number;
  validators: boolean;
}

export interface World {
  seed: number;
  startAt: number;
  hosts: SimHost[];
  byName: Map<string, SimHost>;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface WorldOptions {
  seed: number;
  hosts: number;
  startAt: number;
  /** How long the simulated time lasts, for things that change within it. */
  spanMs: number;
}

export function makeWorld({ seed, hosts, startAt, spanMs }: WorldOptions): World {
  const list = Array.from({ length: hosts }, (_, index) => makeHost(seed, index, hosts, startAt, spanMs));
  return { seed, startAt, hosts: list, byName: new Map(list.map((host) => [host.name, host])) };
}

function makeHost(seed: number, index: number, hosts: number, startAt: number, spanMs: number): SimHost {
  const draw = chance(seed, `host ${index}`);
  const trap = trapOf(seed, index);
  const sometimes = (probability: number, share: number): number => (draw.flip(probability) ? share : 0);
  const agreed = draw.flip(0.3) ? { delayMs: draw.pick([0, 20, 200, 500]), concurrency: draw.pick([1, 2, 4]) } : undefined;
  const host: SimHost = {
    index,
    name: `h${index}.sim`,
    pages: Math.max(3, Math.floor((200 * 8) / (1 + (8 * index) / Math.max(1, hosts / 8)))), // a few large, many small
    crawlDelays: [draw.flip(0.2) ? draw.whole(1, 5) : 0, draw.flip(0.2) ? draw.whole(1, 5) : 0],
    robotsChangeAt: startAt + Math.floor(draw.next() * spanMs),
    robots:
      index === 0
        ? "rules"
        : draw.pick(["rules", "rules", "rules", "missing", "failing-at-first", "redirected", "throttled-at-first"]),
    disallows: [draw.flip(0.5), draw.flip(0.5)],
    latencyMs: draw.pick([2, 20, 80, 300]),
    throttles: sometimes(0.15, 0.05),
    stalls: sometimes(0.15, 0.05),
    resets: sometimes(0.1, 0.02),
    serverErrors: sometimes(0.1, 0.05),
    redirects: sometimes(0.3, 0.1),
    linksAway: draw.pick([0.05, 0.2, 0.5]),
    changeMs: draw.pick([0, 0, 6 * HOUR, 2 * DAY, 20 * DAY]),
    downUntil: index > 0 && draw.flip(0.05) ? startAt + draw.whole(1, 120) * 60_000 : 0,
    validators: draw.flip(0.4),
    ...(agreed === undefined ? {} : { agreed }),
    ...(trap === undefined ? {} : { trap }),
    ...(index > 0 && draw.flip(0.1) ? { privateFrom: startAt + draw.whole(1, 30) * 60_000 } : {}),
  };
  return host;
}

/** Addresses that the name has at that time, the first one used. */
export function addressOf(host: SimHost, at: number): string {
  if (host.privateFrom !== undefined && at >= host.privateFrom) return "10.1.2.3";
  const epoch = Math.floor(at / HOUR); // DNS that changes its answers
  return `93.${hashOf(host.index, epoch) % 200}.${host.index % 250}.${(host.index >> 8) % 250}`;
}

export interface SimAnswer {
  status: number;
  headers: [string, string][];
  body: string;
  /** In place of a body: its markup is made when somebody reads it. */
  page?: SimPage;
  latencyMs: number;
  bodyMs: number;
  /** What goes wrong in place of an answer. */
  failure?: "reset" | "stall";
}

export interface SimAsk {
  host: SimHost;
  path: string;
  at: number;
  /** How many requests this host had before: what makes two answers to one path differ. */
  serial: number;
  ifNoneMatch?: string;
}

export function answerOf(world: World, ask: SimAsk): SimAnswer {
  const { host, path, at, serial } = ask;
  const dice = (purpose: number): number => shareOf(world.seed, host.index, serial, purpose);
  const latencyMs = Math.max(1, Math.round(host.latencyMs * (0.5 + dice(1))));
  const base = { latencyMs, bodyMs: Math.round(dice(2) * 20), headers: [] as [string, string][], body: "" };
  if (path === "/robots.txt") return { ...base, ...robotsAnswer(world, ask) };
  if (dice(3) < host.stalls) return { ...base, status: 0, failure: "stall" };
  if (dice(4) < host.resets) return { ...base, status: 0, failure: "reset" };
  if (dice(5) < host.throttles) return { ...base, ...throttled(at, dice(6)) };
  if (dice(7) < host.serverErrors) return { ...base, status: 500 };
  return { ...base, ...pageAnswer(world, ask) };
}

/** robots.txt as it stands at that time; undefined where it has none. */
function robotsText(host: SimHost, at: number): string | undefined {
  if (host.robots === "missing") return undefined;
  const version = at >= host.robotsChangeAt ? 1 : 0;
  const delay = host.crawlDelays[version];
  return `User-agent: *\nDisallow: /private\n${host.disallows[version] ? "Disallow: /d\n" : ""}${delay === 0 ? "" : `Crawl-delay: ${delay}\n`}`;
}

function robotsAnswer(world: World, { host, at, serial }: SimAsk): Partial<SimAnswer> & { status: number } {
  if (host.robots === "missing") return { status: 404 };
  if (host.robots === "failing-at-first" && serial < 2) return { status: 503 };
  if (host.robots === "throttled-at-first" && serial < 1) return { status: 429, headers: [["retry-after", "30"]] };
  if (host.robots === "redirected") {
    const target = world.hosts[hashOf(world.seed, host.index, 77) % world.hosts.length]!;
    if (target.robots !== "redirected") return { status: 302, headers: [["location", `http://${target.name}/robots.txt`]] };
  }
  return { status: 200, headers: [["content-type", "text/plain"]], body: robotsText(host, at) ?? "" };
}

function throttled(at: number, dice: number): { status: number; headers: [string, string][] } {
  const status = dice < 0.5 ? 429 : 503;
  const seconds = 1 + Math.floor(dice * 120);
  if (dice < 0.3) return { status, headers: [["retry-after", String(seconds)]] };
  if (dice < 0.6) return { status, headers: [["retry-after", new Date(at + seconds * 1000).toUTCString()]] };
  if (dice < 0.8) return { status, headers: [["retry-after", "soon"]] };
  return { status, headers: [] };
}

function pageAnswer(world: World, ask: SimAsk): Partial<SimAnswer> & { status: number } {
  const { host, path, at } = ask;
  const page = pageAt(world, host, path, at);
  const series = host.trap === "anything" || ordinaryPage(host, path) === undefined;
  if (page === undefined || (!series && page.page >= host.pages)) return { status: 404 };
  const number = page.kind === "nothing" ? undefined : ordinaryPage(host, path);
  if (number !== undefined && path.startsWith("/p") && shareOf(world.seed, host.index, number, 8) < host.redirects) {
    return { status: 301, headers: [["location", redirectTarget(world, host, number)]] };
  }
  const etag = `"${host.index}-${page.page}-${page.version}"`;
  if (host.validators && ask.ifNoneMatch === etag) return { status: 304, headers: [["etag", etag]] };
  const headers: [string, string][] = [["content-type", "text/html; charset=utf-8"]];
  if (host.validators) headers.push(["etag", etag]);
  return { status: 200, headers, page };
}

function versionAt({ startAt }: World, { index, changeMs }: SimHost, page: number, at: number): number {
  return changeMs === 0 ? 0 : Math.floor((at - startAt + shareOf(index, page) * changeMs) / changeMs);
}

/** Chains, other hosts, and loops of two. */
function redirectTarget(world: World, host: SimHost, page: number): string {
  const dice = hashOf(world.seed, host.index, page, 9) % 4;
  if (dice === 0) return `/p${page ^ 1}`;
  if (dice === 1) return `/p${(page + 1) % host.pages}`;
  if (dice === 2) return `http://h${hashOf(world.seed, host.index, page, 10) % world.hosts.length}.sim/p0`;
  return `/q${page}`;
}

/** The page that stands there, whatever the server answers for it; undefined where the path names none. */
export function pageAt(world: World, host: SimHost, path: string, at: number): SimPage | undefined {
  const series = trapLinks(world, host, path);
  if (series !== undefined) return seriesPage(host, path, series);
  const page = ordinaryPage(host, path);
  return page === undefined ? undefined : pageOf(world, host, path, page, versionAt(world, host, page, at));
}
