// How evenly do hosts and their URLs fall on key prefixes and key groups? Zipf-distributed sizes up to one host with half of all URLs.
import { parseArgs } from "node:util";
import { rowKey } from "../../../schemas/row-key.ts";
import { paceKeyOfNumber, power, printTable, say } from "./given.ts";
import { keyGroup } from "./key-group.ts";

const HOSTS = [10_000, 100_000, 1_000_000];
const KEY_GROUPS = 4_096;
const PREFIXES = 256;
/** Fetches a second: a host is asked once a second at most, so it has no more than this part of them, whatever its size. */
const FETCHES = 25_000;
/** Exponents of the rank; the last is the one at which the largest host has half of all URLs. */
const EXPONENTS = [0, 0.8, 1, 1.2, "half"] as const;

export async function benchSkew(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { hosts: { type: "string", default: "1000000" } } });
  say(
    "skew: largest part to the mean; URLs by rank^-s; prefixes as schemas/row-key.ts, key groups as Beam's Flink runner (murmur of the encoded key)",
  );
  const rows = HOSTS.filter((hosts) => hosts <= Number(values.hosts)).flatMap(rowsOf);
  printTable(
    [
      "hosts",
      "s",
      "largest host",
      "hosts/prefix",
      "hosts/group",
      "URLs/prefix",
      "URLs/group",
      "fetches/prefix",
      "fetches/group",
    ],
    rows,
  );
}

function rowsOf(hosts: number): (string | number)[][] {
  const prefixes = new Uint8Array(hosts);
  const groups = new Uint16Array(hosts);
  for (let host = 0; host < hosts; host++) {
    const paceKey = paceKeyOfNumber(host);
    prefixes[host] = Number.parseInt(rowKey(paceKey).slice(0, 2), 16);
    groups[host] = keyGroup(paceKey, KEY_GROUPS);
  }
  const even = new Float64Array(hosts).fill(1);
  return EXPONENTS.map((exponent) => {
    const s = exponent === "half" ? halfExponent(hosts) : exponent;
    const sizes = Float64Array.from({ length: hosts }, (_, host) => (host + 1) ** -s);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const fetches = sizes.map((size) => Math.min(size, total / FETCHES));
    return [
      power(hosts),
      s.toFixed(2),
      `${((100 * sizes[0]!) / total).toFixed(1)} %`,
      skewOf(even, prefixes, PREFIXES),
      skewOf(even, groups, KEY_GROUPS),
      skewOf(sizes, prefixes, PREFIXES),
      skewOf(sizes, groups, KEY_GROUPS),
      skewOf(fetches, prefixes, PREFIXES),
      skewOf(fetches, groups, KEY_GROUPS),
    ];
  });
}

function skewOf(sizes: Float64Array, partOf: Uint8Array | Uint16Array, parts: number): string {
  const sums = new Float64Array(parts);
  let total = 0;
  for (const [host, part] of partOf.entries()) {
    sums[part]! += sizes[host]!;
    total += sizes[host]!;
  }
  return ((Math.max(...sums) * parts) / total).toFixed(2);
}

/** The exponent at which the first rank has as much as all others together. */
function halfExponent(hosts: number): number {
  let low = 1;
  let high = 3;
  for (let step = 0; step < 30; step++) {
    const s = (low + high) / 2;
    let others = 0;
    for (let rank = 2; rank <= hosts; rank++) others += rank ** -s;
    if (others > 1) low = s;
    else high = s;
  }
  return high;
}
