// What was agreed with the owners of hosts, and what is ours to bound? The JSON of --policies FILE, checked field by field.
import { EVERY_HOST, isAgreed } from "../core/politeness/policies.ts";
import { scopeRuleFault } from "../core/url/scope.ts";
import { type HostPolicies, type HostPolicy, parameterRules, type TrapLimits } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { UsageError } from "./usage-error.ts";

/** Throws UsageError: one line that names the place, the field, and what is allowed there. */
export function parsePolicies(text: string, path: string, place = `--policies ${path}`): HostPolicies {
  const fail: Fail = (message) => {
    throw new UsageError(`${place}: ${message}`);
  };
  const file = json(text, fail) as { version?: unknown; hosts?: unknown };
  if (!isWhole(file?.version, 1)) return fail('"version" must be a whole number of 1 or more');
  if (!Array.isArray(file.hosts) || file.hosts.length > POLICIES_MAX)
    return fail(`"hosts" must be a list of at most ${POLICIES_MAX} policies`);
  const hosts = file.hosts.map((policy, index) => checkedPolicy(policy, (message) => fail(`hosts[${index}]: ${message}`)));
  checkNumbers(hosts, fail);
  return { version: file.version, hosts };
}

type Fail = (message: string) => never;

/** Found by name, so their number costs memory alone. */
const POLICIES_MAX = 100_000;
/** With one `host` all are looked through for each URL of it. */
const POLICIES_PER_HOST_MAX = 1000;

const MIB = 1024 * 1024;
const BODY_BYTES_MAX = 256 * MIB; // a body is held in memory, and there are as many as --fetchers
const PARSE_MS_MAX = 60_000; // a parser is a thread of few
const DEPTH_MAX = 10_000; // as --max-depth
const HOPS_MAX = 20; // the Fetch standard
const TEMPLATE_URLS_MAX = 1_000_000; // the sketch tells larger numbers apart badly
const ANY = Number.MAX_SAFE_INTEGER;

interface Range {
  min: number;
  max: number;
}

/** Bounds of the whole process (of a URL, of a page's links) can be drawn closer for a host, not wider. */
const RANGES: Record<keyof TrapLimits, Range> = {
  urlLength: { min: 1, max: limits.urlLength },
  pathDepth: { min: 0, max: limits.urlLength },
  parameters: { min: 0, max: limits.urlLength },
  segmentRuns: { min: 1, max: limits.urlLength },
  segmentRepeats: { min: 1, max: limits.urlLength },
  parameterRepeats: { min: 1, max: limits.urlLength },
  depthMax: { min: 0, max: DEPTH_MAX },
  redirectHops: { min: 0, max: HOPS_MAX },
  linksPerPage: { min: 0, max: limits.linksPerPage },
  urlsPerTemplate: { min: 1, max: TEMPLATE_URLS_MAX },
  urlsPerQueryTemplate: { min: 1, max: TEMPLATE_URLS_MAX },
  sampleOneIn: { min: 1, max: TEMPLATE_URLS_MAX },
  wireBytes: { min: 1, max: BODY_BYTES_MAX },
  decodedBytes: { min: 1, max: BODY_BYTES_MAX },
  parseMs: { min: 1, max: PARSE_MS_MAX },
  templatesPerHost: { min: 1, max: 100 * limits.templatesPerHost },
  softNotFoundUrls: { min: 1, max: 200 }, // the map of a family's URLs is good to twice its 256 bits
  pagesPerDay: { min: 0, max: ANY },
  bytesPerDay: { min: 0, max: ANY },
};

const COUNTS: Record<"delayMs" | "concurrency" | "pagesMax", number> = { delayMs: 0, concurrency: 1, pagesMax: 0 };
const SWITCHES = ["paused", "excluded", "agreed"] as const;
const FIELDS = ["host", ...Object.keys(COUNTS), ...SWITCHES, "pattern", "limits", "parameterRules"];

/** What belongs to a clock or to a host's own books has no meaning for some of its URLs. */
const HOST_FIELDS = ["delayMs", "concurrency", "pagesMax", "agreed"] as const;
const HOST_LIMITS = ["templatesPerHost", "softNotFoundUrls", "pagesPerDay", "bytesPerDay"] as const;

const HOST = /^(?:\*|(?:\*\.)?[a-z0-9._[\]:-]+)$/;

function json(text: string, fail: Fail): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail(`not JSON: ${(error as Error).message}`);
  }
}

function checkedPolicy(value: unknown, fail: Fail): HostPolicy {
  if (!isRecord(value)) return fail('must be an object with "host"');
  checkNames(value, FIELDS, fail);
  // A pattern names its host itself.
  const host = value.host === undefined && value.pattern !== undefined ? EVERY_HOST : value.host;
  if (typeof host !== "string" || !HOST.test(host))
    return fail('"host" must be a host name in lower case, *.name, name:port, or * for every host');
  for (const [field, min] of Object.entries(COUNTS)) {
    if (value[field] !== undefined && !isWhole(value[field], min)) fail(`"${field}" must be a whole number of ${min} or more`);
  }
  for (const field of SWITCHES) {
    if (value[field] !== undefined && typeof value[field] !== "boolean") fail(`"${field}" must be true or false`);
  }
  checkPattern(value.pattern, fail);
  checkLimits(value.limits, fail);
  checkRules(value.parameterRules, fail);
  const policy = { ...value, host } as unknown as HostPolicy;
  checkPlace(policy, fail);
  checkAllowance(policy, fail);
  return policy;
}

function checkPattern(pattern: unknown, fail: Fail): void {
  if (pattern === undefined) return;
  if (typeof pattern !== "string")
    return fail('"pattern" must be a text: a glob over the whole URL, such as http*://*/search?**');
  const fault = scopeRuleFault(pattern);
  if (fault !== undefined) fail(`"pattern" ${JSON.stringify(pattern.slice(0, 200))}: ${fault}`);
}

function checkLimits(value: unknown, fail: Fail): void {
  if (value === undefined) return;
  if (!isRecord(value)) return fail(`"limits" must be an object of ${Object.keys(RANGES).join(", ")}`);
  checkNames(value, Object.keys(RANGES), (message) => fail(`limits: ${message}`));
  for (const [name, { min, max }] of Object.entries(RANGES)) {
    const limit = value[name];
    if (limit === undefined || (isWhole(limit, min) && limit <= max)) continue;
    fail(`"limits.${name}" must be a whole number ${max === ANY ? `of ${min} or more` : `from ${min} to ${max}`}`);
  }
}

function checkRules(value: unknown, fail: Fail): void {
  if (value === undefined) return;
  const names: readonly unknown[] = parameterRules;
  if (!Array.isArray(value)) return fail(`"parameterRules" must be a list of ${parameterRules.join(", ")}`);
  const unknown = value.find((name) => !names.includes(name));
  if (unknown !== undefined) fail(`"parameterRules": ${JSON.stringify(unknown)} is none of ${parameterRules.join(", ")}`);
}

function checkPlace(policy: HostPolicy, fail: Fail): void {
  if (policy.pattern === undefined) return;
  const field =
    HOST_FIELDS.find((name) => policy[name] !== undefined) ??
    HOST_LIMITS.map((name) => `limits.${name}` as const).find((_, index) => policy.limits?.[HOST_LIMITS[index]!] !== undefined);
  if (field !== undefined) fail(`"${field}" belongs to a whole host: it must stand in a policy without "pattern"`);
}

/** More than the default may be asked only of a host whose owner agreed to it. */
function checkAllowance(policy: HostPolicy, fail: Fail): void {
  if (policy.host === EVERY_HOST && policy.agreed === true)
    fail('"agreed" must not be true where "host" is *: nobody agreed for all');
  if (isAgreed(policy)) return;
  const why = 'without an owner\'s consent, that is where "host" is * or "agreed" is false';
  if (policy.delayMs !== undefined && policy.delayMs < limits.delayMsMin)
    fail(`"delayMs" must be a whole number of ${limits.delayMsMin} or more ${why}`);
  if (policy.concurrency !== undefined && policy.concurrency > limits.hostConcurrency)
    fail(`"concurrency" must be ${limits.hostConcurrency} ${why}`);
}

function checkNumbers(hosts: readonly HostPolicy[], fail: Fail): void {
  const counts = new Map<string, number>();
  for (const { host } of hosts) {
    const count = (counts.get(host) ?? 0) + 1;
    if (count > POLICIES_PER_HOST_MAX)
      fail(`"host" ${JSON.stringify(host)} stands in more than ${POLICIES_PER_HOST_MAX} policies, which is the most for one`);
    counts.set(host, count);
  }
}

function checkNames(record: Readonly<Record<string, unknown>>, names: readonly string[], fail: Fail): void {
  const unknown = Object.keys(record).find((name) => !names.includes(name));
  if (unknown !== undefined) fail(`"${unknown}" is none of ${names.join(", ")}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}
