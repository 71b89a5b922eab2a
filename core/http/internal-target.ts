// Does this host name or port lead inside, or to another protocol, whatever DNS says? RFC 6761, 6762, 7686, 8375, 9476; Fetch 2.9.
import type { AddressRanges } from "./public-address.ts";

/**
 * Why a look-up of the name is not even made, for people; undefined: go on. Names that exist only inside a network are refused unless
 * some address range is allowed: then the address itself decides. `host` is a WHATWG host that is not an address.
 */
export function internalName(host: string, allow: AddressRanges): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, "");
  const label = name.slice(name.lastIndexOf(".") + 1);
  if (nowhere.has(label)) return `a name under .${label}, which DNS does not serve`;
  if (allow.length > 0) return undefined;
  if (label === name) return "a name of one label";
  if (inside.has(label) || name.endsWith(".home.arpa")) return `a name under .${label}, which is internal to some network`;
  return metadataNames.has(name) ? "a cloud provider's metadata service" : undefined;
}

/** Fetch, section 2.9: ports where an HTTP request could speak to a server of another protocol. */
export function badPort(port: number): boolean {
  return badPorts.has(port);
}

const nowhere = new Set(["alt", "invalid", "onion"]);
const inside = new Set(["internal", "local", "localhost", "svc"]);
const metadataNames = new Set(["metadata.goog", "metadata.tencentyun.com"]);

const badPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
  113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554,
  556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666,
  6667, 6668, 6669, 6679, 6697, 10080,
]);
