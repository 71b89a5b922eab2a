// May the crawler connect to this address? Only to globally reachable unicast, by IANA's special-purpose registries (RFC 6890).
import ipaddr from "ipaddr.js";

/** One range of addresses: 16-bit groups, two for IPv4 and eight for IPv6. */
export interface AddressRange {
  cidr: string;
  groups: readonly number[];
  bits: number;
}

export type AddressRanges = readonly AddressRange[];

export type AddressVerdict = { allowed: true } | { allowed: false; range: string };

/**
 * Judges an address as text: dotted IPv4 or RFC 4291 IPv6, with or without brackets. Every other spelling (octal, hexadecimal, short
 * forms) is refused: no system call may get to read it its own way. `allow` admits the very address, or the IPv4 address that a
 * mapped or NAT64 address leads to. `range` names the block, for people.
 */
export function addressVerdict(address: string, allow: AddressRanges): AddressVerdict {
  const parsed = parseAddress(address);
  if (parsed === undefined) return { allowed: false, range: "not an address" };
  const { groups, zone } = parsed;
  const inner = reachedIpv4(groups);
  if (allow.some((range) => contains(range, groups) || (inner !== undefined && contains(range, inner))))
    return { allowed: true };
  const range = refusedRange(groups) ?? (zone ? "an address with a zone" : undefined);
  return range === undefined ? { allowed: true } : { allowed: false, range };
}

/** Reads `--allow-address` values: CIDR ranges, or single addresses. `fault` names the first value that is neither. */
export function parseRanges(cidrs: readonly string[]): { ok: true; ranges: AddressRanges } | { ok: false; fault: string } {
  const ranges: AddressRange[] = [];
  for (const cidr of cidrs) {
    const range = parseRange(cidr.trim());
    if (range === undefined) {
      return { ok: false, fault: `${JSON.stringify(cidr)} is not an address range such as 127.0.0.0/8 or fd00::/8` };
    }
    ranges.push(range);
  }
  return { ok: true, ranges };
}

const ZONE = /^[0-9A-Za-z.:-]+$/; // RFC 4007 11.2 leaves its form to systems; Node's is this
const ADDRESS_CHARS = 64; // the longest IPv6 spelling has 45, a zone some more

// A range that IANA marks globally reachable but that serves the network itself (anycast of PCP and TURN, AS112, AMT, ORCHID) is
// refused too: no web page lives there.
const refusedIpv4 = table([
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private use"],
  ["100.64.0.0/10", "shared address space"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "the Azure platform"], // in no registry: reached from inside every Azure machine, and only there
  ["169.254.0.0/16", "link local"],
  ["172.16.0.0/12", "private use"],
  ["192.0.0.0/24", "IETF protocol assignments"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "AMT"],
  ["192.88.99.0/24", "6to4 relay anycast"],
  ["192.168.0.0/16", "private use"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
]);

// NAT64 is refused whole, as others do: what its gateway makes of an address is not ours to know. Where it is the only way out, allow it.
const refusedIpv6 = table([
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::/96", "IPv4-compatible"],
  ["::ffff:0:0:0/96", "IPv4-translated"],
  ["64:ff9b::/96", "NAT64"],
  ["64:ff9b:1::/48", "local NAT64"],
  ["100::/64", "discard only"],
  ["100:0:0:1::/64", "dummy prefix"],
  ["2001::/32", "Teredo"],
  ["2001::/23", "IETF protocol assignments"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
  ["5f00::/16", "segment routing"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link local"],
  ["fec0::/10", "site local"],
  ["ff00::/8", "multicast"],
]);

const mapped = rangeOf("::ffff:0:0/96");
const translated = rangeOf("::ffff:0:0:0/96");
const nat64 = rangeOf("64:ff9b::/96");
const localNat64 = rangeOf("64:ff9b:1::/48");
const globalUnicast = rangeOf("2000::/3");

function refusedRange(groups: readonly number[]): string | undefined {
  if (groups.length === 2) return nameIn(refusedIpv4, groups);
  if (contains(mapped, groups)) return nameIn(refusedIpv4, groups.slice(6));
  return nameIn(refusedIpv6, groups) ?? (contains(globalUnicast, groups) ? undefined : "unassigned, outside 2000::/3");
}

/** The IPv4 address that packets to this IPv6 address end up at. 6to4, Teredo and IPv4-compatible ones only tunnel through theirs. */
function reachedIpv4(groups: readonly number[]): readonly number[] | undefined {
  if (groups.length === 2) return undefined;
  if (contains(mapped, groups) || contains(translated, groups) || contains(nat64, groups)) return groups.slice(6);
  // RFC 6052 2.2, a /48 prefix: 16 bits, the octet u, 16 bits.
  if (contains(localNat64, groups)) return [groups[3]!, ((groups[4]! & 0xff) << 8) | (groups[5]! >> 8)];
  return undefined;
}

function parseAddress(text: string): { groups: readonly number[]; zone: boolean } | undefined {
  if (text.length > ADDRESS_CHARS) return undefined;
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (!bare.includes(":")) return wrap(parseIpv4(bare), false);
  const percent = bare.indexOf("%");
  if (percent < 0) return wrap(parseIpv6(bare), false);
  return ZONE.test(bare.slice(percent + 1)) ? wrap(parseIpv6(bare.slice(0, percent)), true) : undefined;
}

function wrap(groups: readonly number[] | undefined, zone: boolean) {
  return groups && { groups, zone };
}

function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return undefined;
  const [a, b, c, d] = parts.map(Number) as [number, number, number, number];
  return [(a << 8) | b, (c << 8) | d];
}

// ipaddr.js reads `::1.2.3.4` as mapped (it is IPv4-compatible) and takes octal in dotted tails: the tail is ours to read.
function parseIpv6(text: string): readonly number[] | undefined {
  const tailAt = text.lastIndexOf(":") + 1;
  let plain = text;
  if (text.includes(".")) {
    const tail = parseIpv4(text.slice(tailAt));
    if (tail === undefined) return undefined;
    plain = text.slice(0, tailAt) + tail.map((group) => group.toString(16)).join(":");
  }
  return /^[0-9a-f:]+$/i.test(plain) && ipaddr.IPv6.isValid(plain) ? ipaddr.IPv6.parse(plain).parts : undefined;
}

function parseRange(cidr: string): AddressRange | undefined {
  const slash = cidr.indexOf("/");
  const parsed = parseAddress(slash < 0 ? cidr : cidr.slice(0, slash));
  if (parsed === undefined || parsed.zone) return undefined;
  const width = parsed.groups.length * 16;
  const suffix = slash < 0 ? String(width) : cidr.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(suffix) || Number(suffix) > width) return undefined;
  return { cidr, groups: parsed.groups, bits: Number(suffix) };
}

function contains(range: AddressRange, groups: readonly number[]): boolean {
  if (range.groups.length !== groups.length) return false;
  return groups.every((group, index) => {
    const bits = Math.min(Math.max(range.bits - index * 16, 0), 16);
    return (group ^ range.groups[index]!) >> (16 - bits) === 0;
  });
}

function nameIn(ranges: readonly (AddressRange & { name: string })[], groups: readonly number[]): string | undefined {
  const found = ranges.find((range) => contains(range, groups));
  return found && `${found.name}, ${found.cidr}`;
}

function table(rows: [cidr: string, name: string][]): (AddressRange & { name: string })[] {
  return rows.map(([cidr, name]) => ({ ...rangeOf(cidr), name }));
}

function rangeOf(cidr: string): AddressRange {
  const range = parseRange(cidr);
  if (range === undefined) throw new Error(`a range of ours is malformed: ${cidr}`);
  return range;
}
