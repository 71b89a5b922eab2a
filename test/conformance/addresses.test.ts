// Is nothing reached but public addresses, however a URL leads to another? By the address itself, by the name, and at connect.
import { isIP } from "node:net";
import { addressVerdict } from "../../core/http/public-address.ts";
import type { Resolver } from "../../io/http/dns.ts";
import { undiciHttp } from "../../io/http/undici-http.ts";
import { realClock, requestLimits } from "../io/http/fixtures.ts";
import { conformance } from "./lib.ts";

interface Case {
  kind: "ip" | "host" | "url" | "resolves";
  input: string;
  refuse: boolean | "resolve" | "policy";
  reason: string;
  disputed?: string;
}

interface Range {
  family: "ipv4" | "ipv6";
  cidr: string;
  refuse: boolean | "policy" | "embedded";
}

const FILE = "ssrf-addresses.json";

conformance({
  name: "addresses",
  files: [FILE],
  cases: 635,
  async judge(data, check) {
    const { cases, ranges } = data.json<{ cases: Case[]; ranges: Range[] }>(FILE);
    for (const { cidr, refuse } of ranges) check(`range ${cidr}`, rangeRefused(cidr, refuse), true);
    for (const one of cases) {
      const id = `${one.kind} ${one.input}`;
      if (one.kind === "ip") {
        // Where guards differ, the strict one.
        const refused = one.disputed !== undefined || one.refuse !== false;
        check(id, !addressVerdict(one.input, []).allowed, refused);
        if (refused) check(`name that resolves to ${one.input}`, await outcome("http://name.example/", [one.input]), "refused");
      } else if (one.kind === "resolves") {
        const address = /resolves to ([\d.]+)/.exec(one.reason)![1]!;
        check(id, await outcome(`http://${one.input}/`, [address]), "refused");
      } else {
        const url = one.kind === "host" ? `http://${one.input}/` : one.input;
        check(id, await outcome(url, []), one.refuse === "resolve" ? "looked up" : "refused unasked");
      }
    }
  },
});

/** What comes of connecting, with a resolver that gives these addresses for every name. No packet leaves: nothing public is given. */
async function outcome(url: string, addresses: string[]): Promise<string> {
  let asked = false;
  const resolver: Resolver = {
    async resolve(host) {
      if (isIP(host) !== 0) return { ok: true, addresses: [host] };
      asked = true;
      return addresses.length > 0 ? { ok: true, addresses } : { ok: false, detail: `${host}: no such name` };
    },
  };
  const http = undiciHttp({
    clock: realClock,
    resolver,
    allow: [],
    fetchers: 1,
    metrics: { count() {}, gauge() {}, observe() {} },
  });
  const result = await http.connect(url, requestLimits);
  await http.close();
  if (result.ok) return "connected";
  if (result.reason === "address" || result.reason === "protocol") return asked ? "refused" : "refused unasked";
  return result.reason === "dns" && asked ? "looked up" : `failed: ${result.detail}`;
}

/** Both ends of the range; of one that embeds IPv4 addresses, its first alone, which embeds a private one. */
function rangeRefused(cidr: string, refuse: Range["refuse"]): boolean {
  const ends = refuse === "embedded" ? [cidr.slice(0, cidr.indexOf("/"))] : endsOf(cidr);
  return ends.every((address) => !addressVerdict(address, []).allowed);
}

function endsOf(cidr: string): string[] {
  const [address, bits] = cidr.split("/") as [string, string];
  const width = address.includes(":") ? 128 : 32;
  const first = numberOf(address);
  const last = first | ((1n << BigInt(width - Number(bits))) - 1n);
  return [address, textOf(last, width)];
}

function numberOf(address: string): bigint {
  if (!address.includes(":")) return address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before, after] = canonical.split("::").map((half) => (half === "" ? [] : half.split(":"))) as [string[], string[]?];
  const zeros = after === undefined ? [] : new Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...(after ?? [])].reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}

function textOf(address: bigint, width: number): string {
  const digits = address.toString(16).padStart(width / 4, "0");
  if (width === 32)
    return digits
      .match(/../g)!
      .map((part) => Number.parseInt(part, 16))
      .join(".");
  return digits.match(/..../g)!.join(":");
}
