// Did a request go to an address that is nobody's on the open internet? RFC 6890's blocks, by node's own list.
import { BlockList, isIP } from "node:net";
import { type Checker, Violations } from "./checker.ts";

export function addresses(): Checker {
  const violations = new Violations();
  const isClosed = closedAddresses();
  return {
    name: "addresses",
    violations,
    arrived(entry) {
      if (isClosed(entry.address)) violations.add(`${entry.host}${entry.path} was asked at ${entry.address}`);
    },
  };
}

const ipv4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.168.0.0/16";
const more = "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4";
const ipv6 = "::/127 fc00::/7 fe80::/10 fec0::/10 ff00::/8 2001:db8::/32";
const KEPT = 10_000; // verdicts remembered, as hosts keep their addresses for a while

/** What is no address is closed too. */
function closedAddresses(): (address: string) => boolean {
  const list = new BlockList();
  for (const [family, ranges] of [
    ["ipv4", `${ipv4} ${more}`],
    ["ipv6", ipv6],
  ] as const) {
    for (const range of ranges.split(" ")) {
      const [net, bits] = range.split("/");
      list.addSubnet(net!, Number(bits), family);
    }
  }
  const known = new Map<string, boolean>();
  return (address) => {
    let closed = known.get(address);
    if (closed === undefined) {
      const family = isIP(address);
      closed = family === 0 || list.check(address, family === 4 ? "ipv4" : "ipv6");
      if (known.size >= KEPT) known.clear();
      known.set(address, closed);
    }
    return closed;
  };
}
