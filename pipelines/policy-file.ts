// What was agreed with the owners of hosts? The JSON of --policies FILE, checked field by field.
import type { HostPolicy } from "../schemas/crawl-config.ts";
import { UsageError } from "./options.ts";

export interface PolicyFile {
  /** Rises with each change, so that records show which one they were judged by. */
  version: number;
  hosts: HostPolicy[];
}

const HOSTS_MAX = 100_000; // policies looked through for each host
const FIELDS = ["host", "delayMs", "concurrency", "pagesMax", "paused"];

export function parsePolicies(text: string, path: string): PolicyFile {
  const fail = (message: string): never => {
    throw new UsageError(`--policies ${path}: ${message}`);
  };
  const file = json(text, fail) as { version?: unknown; hosts?: unknown };
  if (!isWhole(file?.version, 1)) return fail('"version" must be a whole number of 1 or more');
  if (!Array.isArray(file.hosts) || file.hosts.length > HOSTS_MAX)
    return fail(`"hosts" must be a list of at most ${HOSTS_MAX} policies`);
  return {
    version: file.version,
    hosts: file.hosts.map((policy, index) => checked(policy, (message) => fail(`hosts[${index}]: ${message}`))),
  };
}

function json(text: string, fail: (message: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail(`not JSON: ${(error as Error).message}`);
  }
}

function checked(policy: unknown, fail: (message: string) => never): HostPolicy {
  if (typeof policy !== "object" || policy === null) return fail('must be an object with "host"');
  const record = policy as Record<string, unknown>;
  const unknown = Object.keys(record).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return fail(`"${unknown}" is none of ${FIELDS.join(", ")}`);
  if (typeof record.host !== "string" || !/^(\*\.)?[a-z0-9._[\]:-]+$/.test(record.host))
    return fail('"host" must be a host name in lower case, *.name, or name:port');
  for (const [field, min] of [
    ["delayMs", 0],
    ["concurrency", 1],
    ["pagesMax", 0],
  ] as const) {
    if (record[field] !== undefined && !isWhole(record[field], min))
      return fail(`"${field}" must be a whole number of ${min} or more`);
  }
  if (record.paused !== undefined && typeof record.paused !== "boolean") return fail('"paused" must be true or false');
  return record as unknown as HostPolicy;
}

function isWhole(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}
