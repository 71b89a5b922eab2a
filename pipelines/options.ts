// What was the crawl command asked to do? Every flag checked before anything is opened; a fault names the flag and what is allowed.
import { readFileSync } from "node:fs";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { type AddressRanges, addressVerdict, parseRanges } from "../core/http/public-address.ts";
import { compileConnectTo } from "../core/url/connect-to.ts";
import { normalizeUrl } from "../core/url/normalize.ts";
import { scopeRuleFault } from "../core/url/scope.ts";
import type { HostPolicy, Scope, ScopeMode } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { type EnginePlace, engineFlags, enginePlace } from "./engines/engine-place.ts";
import { parsePolicies } from "./policy-file.ts";
import { type CloudPlace, cloudFlags, storesPlace } from "./stores/cloud-place.ts";
import { UsageError } from "./usage-error.ts";

export interface CrawlOptions {
  seeds: string[];
  /** The folder of a crawl whose stores are local. */
  data: string;
  /** Where the stores are Google Cloud's. */
  cloud?: CloudPlace;
  /** Where it is not the embedded one that runs the crawl. */
  engine?: EnginePlace;
  sitemaps: boolean;
  scope: ScopeMode;
  rules: Scope["rules"];
  pagesMax?: number;
  pagesPerHost: number;
  depthMax: number;
  delayMs: number;
  hostConcurrency: number;
  requestMs: number;
  fetchers: number;
  userAgent: string;
  productToken: string;
  contact?: string;
  allow: AddressRanges;
  connectTo: string[];
  acceptTypes: string[];
  documents: boolean;
  policies: readonly HostPolicy[];
  policyVersion: number;
  idleHorizonMs: number;
  stopWhenIdle: boolean;
  durability: "power" | "process";
  json: boolean;
  verbose: boolean;
}

export { UsageError };

const flags = {
  seeds: { type: "string" },
  sitemaps: { type: "boolean" },
  data: { type: "string" },
  scope: { type: "string" },
  include: { type: "string", multiple: true },
  exclude: { type: "string", multiple: true },
  "max-pages": { type: "string" },
  "max-pages-per-host": { type: "string" },
  "max-depth": { type: "string" },
  "delay-ms": { type: "string" },
  "host-concurrency": { type: "string" },
  "timeout-ms": { type: "string" },
  fetchers: { type: "string" },
  "user-agent": { type: "string" },
  contact: { type: "string" },
  "allow-address": { type: "string", multiple: true },
  "connect-to": { type: "string", multiple: true },
  "accept-types": { type: "string", multiple: true },
  documents: { type: "string" },
  policies: { type: "string" },
  "idle-horizon": { type: "string" },
  "stop-when-idle": { type: "string" },
  durability: { type: "string" },
  stores: { type: "string" },
  ...cloudFlags,
  ...engineFlags,
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsOptionsConfig;

export const VERSION = "0.1.0";
const FETCHERS_MAX = 10_000; // sockets that one process can hold with usual limits raised
const CONCURRENCY_MAX = 64; // requests to one host at once, even an agreed one
const REQUEST_MS_MIN = 100;
const REQUEST_MS_MAX = 300_000; // Nutch and Scrapy wait 180 s at the most by default

/** The options, or "help". Throws UsageError. `readFile` is given so that tests need no files. */
export function parseOptions(
  args: readonly string[],
  readFile = (path: string): string => readFileSync(path, "utf8"),
): CrawlOptions | "help" {
  const { values, positionals, tokens } = parsed(args);
  if (values.help) return "help";
  const read = (flag: string, path: string): string => readInput(flag, path, readFile);
  const policies =
    values.policies === undefined
      ? { version: 0, hosts: [] }
      : parsePolicies(read("--policies", values.policies), values.policies);
  const scope = word("--scope", values.scope ?? "host", ["host", "domain", "any"] as const);
  const cloud = cloudOf(values);
  const engine = enginePlace(values, { name: `crawl-${cloud?.crawl}`, inCloud: cloud !== undefined });
  const pagesMax = pagesOf(values["max-pages"], engine);
  const userAgent = values["user-agent"] ?? `Gleaner/${VERSION}`;
  const allow = allowed(values["allow-address"] ?? []);
  const contact = contactOf(values.contact, allow);
  const options: CrawlOptions = {
    seeds: [...positionals.map((seed) => seedOf(seed, "on the command line")), ...seedsIn(values.seeds, read)],
    data: values.data ?? "./data",
    ...(cloud === undefined ? {} : { cloud }),
    ...(engine === undefined ? {} : { engine }),
    sitemaps: values.sitemaps ?? false,
    scope,
    rules: rulesOf(tokens),
    ...(pagesMax === undefined ? {} : { pagesMax }),
    pagesPerHost: whole(
      "--max-pages-per-host",
      values["max-pages-per-host"] ?? String(limits.pagesPerHost),
      1,
      Number.MAX_SAFE_INTEGER,
    ),
    depthMax: whole("--max-depth", values["max-depth"] ?? String(limits.depthMax), 0, 10_000),
    delayMs: whole("--delay-ms", values["delay-ms"] ?? String(limits.delayMs), 0, limits.backoffMsMax),
    hostConcurrency: whole(
      "--host-concurrency",
      values["host-concurrency"] ?? String(limits.hostConcurrency),
      1,
      CONCURRENCY_MAX,
    ),
    requestMs: whole("--timeout-ms", values["timeout-ms"] ?? String(limits.requestMs), REQUEST_MS_MIN, REQUEST_MS_MAX),
    fetchers: whole("--fetchers", values.fetchers ?? String(limits.fetchers), 1, FETCHERS_MAX),
    userAgent: contact === undefined ? userAgent : `${userAgent} (+${contact})`,
    productToken: productTokenOf(userAgent),
    ...(contact === undefined ? {} : { contact }),
    allow,
    connectTo: connections(values["connect-to"] ?? []),
    acceptTypes: (values["accept-types"] ?? []).flatMap((value) => value.split(",")).map(mediaType),
    documents: truth("--documents", values.documents ?? "true"),
    policies: policies.hosts,
    policyVersion: policies.version,
    idleHorizonMs: whole("--idle-horizon", values["idle-horizon"] ?? "120", 0, 1_000_000) * 1000,
    stopWhenIdle: truth("--stop-when-idle", values["stop-when-idle"] ?? String(scope !== "any" || pagesMax !== undefined)),
    durability: word("--durability", values.durability ?? "power", ["power", "process"] as const),
    json: values.json ?? false,
    verbose: values.verbose ?? false,
  };
  checkAllowance(options);
  return options;
}

/** Undefined where the stores are local. */
function cloudOf(values: ReturnType<typeof parsed>["values"]): CloudPlace | undefined {
  const stores = word("--stores", values.stores ?? "local", ["local", "cloud"] as const);
  return storesPlace(stores === "cloud", values, { data: values.data, durability: values.durability });
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    const [first] = String((error as Error).message).split(/[.\n]/);
    throw new UsageError(`${first}; npm run crawl -- --help lists what there is`);
  }
}

function readInput(flag: string, path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new UsageError(`${flag} ${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

/** Undefined: no bound. Counted by the process that fetches, and a job of another engine has several, which come and go. */
function pagesOf(given: string | undefined, engine: EnginePlace | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (engine !== undefined)
    throw new UsageError(
      `--max-pages is for --engine embedded: on ${engine.engine} each worker would fetch as many; --max-pages-per-host holds there`,
    );
  return whole("--max-pages", given, 1, Number.MAX_SAFE_INTEGER);
}

function seedsIn(path: string | undefined, read: (flag: string, path: string) => string): string[] {
  if (path === undefined) return [];
  const lines = read("--seeds", path).split(/\r?\n/);
  const seeds = lines.flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === "" || trimmed.startsWith("#") ? [] : [seedOf(trimmed, `in ${path}, line ${index + 1}`)];
  });
  if (seeds.length === 0) throw new UsageError(`--seeds ${path} names no URL; one a line is expected, # begins a comment`);
  return seeds;
}

function seedOf(seed: string, where: string): string {
  const normal = normalizeUrl(seed);
  if (normal.ok) return normal.url;
  const allowedForm = "an absolute http:// or https:// URL";
  const limit = normal.reason === "url-length" ? ` of at most ${limits.urlLength} characters` : "";
  throw new UsageError(`the seed ${JSON.stringify(seed.slice(0, 200))} ${where} is not ${allowedForm}${limit}`);
}

function whole(flag: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new UsageError(`${flag} ${JSON.stringify(value)} is not a whole number ${range}`);
}

function word<const W extends string>(flag: string, value: string, words: readonly W[]): W {
  const found = words.find((each) => each === value);
  if (found !== undefined) return found;
  throw new UsageError(`${flag} ${JSON.stringify(value)} is none of ${words.join(", ")}`);
}

function truth(flag: string, value: string): boolean {
  return word(flag, value, ["true", "false"] as const) === "true";
}

/** In the order given, across both flags: the last match wins. */
function rulesOf(tokens: ReturnType<typeof parsed>["tokens"]): Scope["rules"] {
  const rules: Scope["rules"] = [];
  for (const token of tokens) {
    if (token.kind !== "option" || (token.name !== "include" && token.name !== "exclude")) continue;
    const pattern = token.value ?? "";
    const fault = scopeRuleFault(pattern);
    if (fault !== undefined) throw new UsageError(`--${token.name} ${JSON.stringify(pattern)}: ${fault}`);
    rules.push({ action: token.name, pattern });
  }
  return rules;
}

function allowed(cidrs: readonly string[]): AddressRanges {
  const ranges = parseRanges(cidrs);
  if (!ranges.ok) throw new UsageError(`--allow-address: ${ranges.fault}`);
  return ranges.ranges;
}

function connections(rules: readonly string[]): string[] {
  const { faults } = compileConnectTo(rules);
  if (faults.length > 0) throw new UsageError(`--connect-to ${faults[0]}`);
  return [...rules];
}

const CONTACT = /^(https?:\/\/\S+|(mailto:)?[^\s@]+@[^\s@]+\.[^\s@]+)$/;

/** Site owners must be able to reach a human: without a contact only loopback is asked, and only where that was allowed. */
function contactOf(contact: string | undefined, allow: AddressRanges): string | undefined {
  if (contact !== undefined) {
    if (CONTACT.test(contact) && contact.length <= 200) return contact;
    throw new UsageError(`--contact ${JSON.stringify(contact)} is neither a URL nor a mail address`);
  }
  if (addressVerdict("127.0.0.1", allow).allowed || addressVerdict("::1", allow).allowed) return undefined;
  throw new UsageError("--contact URL-or-mail-address is required: site owners must be able to reach a human");
}

/** RFC 9309 2.2.1: letters, `-` and `_`. */
function productTokenOf(userAgent: string): string {
  const token = /^[A-Za-z_-]+/.exec(userAgent)?.[0];
  if (token !== undefined && /^[\x20-\x7e]{1,256}$/.test(userAgent)) return token;
  throw new UsageError(
    `--user-agent ${JSON.stringify(userAgent)} does not begin with a product token of letters, "-" or "_", in plain ASCII`,
  );
}

function mediaType(value: string): string {
  const type = value.trim().toLowerCase();
  if (/^[a-z0-9!#$&^_.+-]+\/([a-z0-9!#$&^_.+-]+|\*)$/.test(type)) return type;
  throw new UsageError(`--accept-types ${JSON.stringify(value)} is not a media type such as application/pdf or image/*`);
}

/** More than the default may be asked only of hosts that are one's own (--allow-address) or agreed with (--policies). */
function checkAllowance({ delayMs, hostConcurrency, allow, policies }: CrawlOptions): void {
  if (allow.length > 0 || policies.length > 0) return;
  const why = "is only for hosts behind --allow-address or named in --policies FILE";
  if (delayMs < limits.delayMsMin) throw new UsageError(`--delay-ms ${delayMs}: less than ${limits.delayMsMin} ${why}`);
  if (hostConcurrency > limits.hostConcurrency)
    throw new UsageError(`--host-concurrency ${hostConcurrency}: more than ${limits.hostConcurrency} ${why}`);
}
