// Which addresses has this name? An asynchronous look-up with a cache of its own: hosts file, then DNS (RFC 6761 for localhost).
import { lookup } from "node:dns";
import { Resolver as DnsResolver } from "node:dns/promises";
import { isIP } from "node:net";
import { type Clock, sleep } from "../../ports/clock.ts";
import { limits } from "../../schemas/limits.ts";
import { hostsFile } from "./hosts-file.ts";

export type Resolved = { ok: true; addresses: string[] } | { ok: false; detail: string };

export interface Resolver {
  /** Never rejects. `host` is a name or an address, in the form of a URL's host without brackets. */
  resolve(host: string): Promise<Resolved>;
}

export interface SystemResolverOptions {
  clock: Clock;
  /** `address` or `address:port`; default: the system's. */
  servers?: readonly string[];
  /** Default: the system's. */
  hostsPath?: string;
}

/** close() ends queries that are still out, so that none keeps the process. */
export function systemResolver(options: SystemResolverOptions): Resolver & { close(): void } {
  const { clock } = options;
  const dns = new DnsResolver({ timeout: QUERY_MS, tries: 2 });
  if (options.servers !== undefined) dns.setServers(options.servers);
  const hosts = hostsFile(clock, options.hostsPath);
  const find = async (name: string): Promise<Found> => {
    const local = await hosts(name);
    if (local.length > 0) return { addresses: local, ttlMs: limits.dnsTtlMs };
    return name.includes(".") ? queryBoth(dns, clock, name) : systemLookup(name);
  };
  return { resolve: cachedResolve(clock, find), close: () => dns.cancel() };
}

/** What a look-up found. No addresses: `detail` says why. */
interface Found {
  addresses: string[];
  ttlMs: number;
  detail?: string;
}

const QUERY_MS = 1500; // one try of one server; the second waits twice that, so both fit into limits.dnsMs
const TTL_MIN_MS = 1000; // an answer with a TTL of 0 still serves the requests of one second
const LOOKUP_TTL_MS = 60_000; // what getaddrinfo says has no TTL
const RESOLUTION_DELAY_MS = 50; // RFC 8305, 3: how long a first answer waits for the other family
const CACHE_NAMES = 20_000; // about 5 MB
const NAME_CHARS = 253; // RFC 1035 2.3.4, as text
const ADDRESSES = 16; // of one name; more are never tried

interface Entry {
  answer: Resolved;
  until: number;
}

function cachedResolve(clock: Clock, find: (name: string) => Promise<Found>): Resolver["resolve"] {
  const cache = new Map<string, Entry>();
  const inFlight = new Map<string, Promise<Resolved>>();
  const remember = (name: string, found: Found): Resolved => {
    const addresses = found.addresses.filter((address) => address !== "0.0.0.0" && address !== "::").slice(0, ADDRESSES);
    const detail =
      found.detail ?? (found.addresses.length > 0 ? "answers only with the unspecified address" : "has no address");
    const answer: Resolved = addresses.length > 0 ? { ok: true, addresses } : { ok: false, detail: `${name}: ${detail}` };
    const ttlMs = answer.ok ? Math.min(Math.max(found.ttlMs, TTL_MIN_MS), limits.dnsTtlMs) : limits.dnsFailureTtlMs;
    cache.delete(name);
    cache.set(name, { answer, until: clock.now() + ttlMs });
    if (cache.size > CACHE_NAMES) cache.delete(cache.keys().next().value!);
    return answer;
  };
  return async (host) => {
    if (isIP(host) !== 0) return { ok: true, addresses: [host] };
    const name = host.toLowerCase().replace(/\.$/, "");
    if (name === "localhost" || name.endsWith(".localhost")) return { ok: true, addresses: ["127.0.0.1", "::1"] };
    if (name === "" || name.length > NAME_CHARS) return { ok: false, detail: "not a host name" };
    const kept = cache.get(name);
    if (kept !== undefined && kept.until > clock.now()) return kept.answer;
    const running = inFlight.get(name);
    if (running !== undefined) return running;
    const started = timed(clock, find(name).catch(failed)).then((found) => remember(name, found));
    inFlight.set(name, started);
    void started.then(() => inFlight.delete(name));
    return started;
  };
}

function timed(clock: Clock, found: Promise<Found>): Promise<Found> {
  return new Promise((resolve) => {
    const cancel = clock.after(limits.dnsMs, () => resolve({ addresses: [], ttlMs: 0, detail: "the look-up timed out" }));
    void found.then((value) => {
      cancel();
      resolve(value);
    });
  });
}

/** IPv4 first: where both work it makes no difference, and a machine without IPv6 does not try in vain. */
async function queryBoth(dns: DnsResolver, clock: Clock, name: string): Promise<Found> {
  const four = dns.resolve4(name, { ttl: true }).then(found, failed);
  const six = dns.resolve6(name, { ttl: true }).then(found, failed);
  const patience = four.then(async (answer) => {
    if (answer.addresses.length > 0) await sleep(clock, RESOLUTION_DELAY_MS);
    return answer.addresses.length > 0 ? undefined : six;
  });
  const [first, second] = [await four, await Promise.race([six, patience])];
  const answers = [first, second].filter((answer) => answer !== undefined && answer.addresses.length > 0) as Found[];
  if (answers.length === 0) return first;
  return {
    addresses: answers.flatMap(({ addresses }) => addresses),
    ttlMs: Math.min(...answers.map(({ ttlMs }) => ttlMs)),
  };
}

function found(records: { address: string; ttl: number }[]): Found {
  const some = records.slice(0, ADDRESSES);
  return { addresses: some.map(({ address }) => address), ttlMs: Math.min(...some.map(({ ttl }) => ttl * 1000)) };
}

function failed(error: unknown): Found {
  const code = (error as { code?: unknown }).code;
  return { addresses: [], ttlMs: 0, detail: details[String(code)] ?? `the look-up failed (${code})` };
}

const details: Readonly<Record<string, string>> = {
  ENOTFOUND: "no such name",
  ENODATA: "has no address",
  ESERVFAIL: "its DNS servers fail",
  ETIMEOUT: "the look-up timed out",
  ECANCELLED: "the look-up was called off",
};

// A name of one label means what the system's search list and hosts say: only getaddrinfo knows. It blocks a thread of libuv's pool,
// which is why names of the web never come here.
function systemLookup(name: string): Promise<Found> {
  return new Promise((resolve) => {
    lookup(name, { all: true }, (error, all) => {
      if (error !== null) resolve(failed(error));
      else resolve({ addresses: all.map(({ address }) => address), ttlMs: LOOKUP_TTL_MS });
    });
  });
}
