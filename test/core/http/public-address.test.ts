import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { badPort, internalName } from "../../../core/http/internal-target.ts";
import { type AddressRanges, addressVerdict, parseRanges } from "../../../core/http/public-address.ts";

const yardstick = new URL("../../../../shared/data/ssrf-addresses.json", import.meta.url);
const absent = existsSync(yardstick) ? false : "../shared/data is absent";

interface Case {
  kind: "ip" | "host" | "url" | "resolves";
  input: string;
  refuse: boolean | "resolve" | "policy" | "embedded";
  disputed?: string;
  whatwgHost?: string | null;
}

const cases = (): Case[] => JSON.parse(readFileSync(yardstick, "utf8")).cases;

/** What is known before any look-up: refused, reached, or left to the look-up. */
function beforeLookUp(url: string): boolean | "resolve" {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname, port } = new URL(url);
  if ((protocol !== "http:" && protocol !== "https:") || badPort(Number(port || 80))) return true;
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0) return !addressVerdict(bare, []).allowed;
  return internalName(hostname, []) === undefined ? "resolve" : true;
}

test("every address of the yardstick gets its verdict, and the disputed ones the strict one", { skip: absent }, () => {
  const addresses = cases().filter(({ kind }) => kind === "ip");
  assert.ok(addresses.length > 200);
  const wrong = addresses.filter(
    ({ input, refuse, disputed }) => !addressVerdict(input, []).allowed !== (disputed !== undefined || refuse !== false),
  );
  assert.deepEqual(wrong, []);
});

test("every host and URL of the yardstick is refused or left to the look-up as it says", { skip: absent }, () => {
  const wrong = cases()
    .filter(({ kind }) => kind === "host" || kind === "url")
    .filter(({ kind, input, refuse }) => beforeLookUp(kind === "host" ? `http://${input}/` : input) !== refuse);
  assert.deepEqual(wrong, []);
});

test("every range of the yardstick is refused at both ends, or judged by the address inside", { skip: absent }, () => {
  const { ranges } = JSON.parse(readFileSync(yardstick, "utf8"));
  for (const { cidr, refuse } of ranges) {
    const first = cidr.slice(0, cidr.indexOf("/"));
    assert.equal(addressVerdict(first, []).allowed, false, `${cidr} ${refuse}`);
  }
});

test("a spelling that systems read in different ways is no address", () => {
  const odd = [
    "0177.0.0.1",
    "0x7f.0.0.1",
    "127.1",
    "2130706433",
    "127.0.0.1.",
    " 127.0.0.1",
    "8.8.8",
    "8.8.8.8/32",
    "08.8.8.8",
  ];
  const odd6 = ["::ffff:0177.0.0.1", "1::2::3", ":1", "1:2:3:4:5:6:7", "::1%", "[::1", "2606:4700::g", "::1.2.3"];
  for (const text of ["", "localhost", ...odd, ...odd6, `${"0".repeat(100)}::1`]) {
    assert.deepEqual(addressVerdict(text, ranges("0.0.0.0/0", "::/0")), { allowed: false, range: "not an address" }, text);
  }
});

test("a refusal names the block", () => {
  const expected: [address: string, range: string][] = [
    ["10.1.2.3", "private use, 10.0.0.0/8"],
    ["[::1]", "loopback, ::1/128"],
    ["::ffff:192.168.0.1", "private use, 192.168.0.0/16"],
    ["64:ff9b::10.0.0.1", "NAT64, 64:ff9b::/96"],
    ["::127.0.0.1", "IPv4-compatible, ::/96"],
    ["4000::1", "unassigned, outside 2000::/3"],
    ["2606:4700:4700::1111%eth0", "an address with a zone"],
  ];
  for (const [address, range] of expected) assert.deepEqual(addressVerdict(address, []), { allowed: false, range });
});

test("an allowed range admits the address itself and the IPv4 address that would be reached, no other", () => {
  const rows: [allow: string, address: string, allowed: boolean][] = [
    ["127.0.0.0/8", "127.255.0.1", true],
    ["127.0.0.0/8", "10.0.0.1", false],
    ["127.0.0.0/8", "::ffff:127.0.0.1", true],
    ["127.0.0.0/8", "64:ff9b::127.0.0.1", true],
    ["10.0.0.0/8", "64:ff9b:1:a00:0:100::", true],
    ["10.0.0.0/8", "64:ff9b:1:b00:0:100::", false],
    ["127.0.0.0/8", "::127.0.0.1", false],
    ["127.0.0.0/8", "2002:7f00:1::", false],
    ["127.0.0.0/8", "::1", false],
    ["::1", "::1", true],
    ["::1", "127.0.0.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["10.0.0.1/31", "10.0.0.0", true],
    ["10.0.0.1/31", "10.0.0.2", false],
    ["fd00::/9", "fd7f::1", true],
    ["fd00::/9", "fd80::1", false],
  ];
  for (const [allow, address, allowed] of rows) {
    assert.equal(addressVerdict(address, ranges(allow)).allowed, allowed, `${allow} ${address}`);
  }
});

test("a value that is no range is named", () => {
  for (const cidr of [
    "",
    "10.0.0.0/33",
    "10/8",
    "::/129",
    "localhost",
    "10.0.0.0/08",
    "10.0.0.0/",
    "fe80::1%lo/64",
    "10.0.0.0/-1",
  ]) {
    const parsed = parseRanges(["127.0.0.0/8", cidr]);
    assert.ok(!parsed.ok && parsed.fault.includes(JSON.stringify(cidr)), cidr);
  }
});

test("inside names are left to the address where a range is allowed, names that DNS does not serve never are", () => {
  assert.equal(internalName("wiki.internal", ranges("10.0.0.0/8")), undefined);
  assert.equal(internalName("intranet", ranges("10.0.0.0/8")), undefined);
  assert.ok(internalName("abc.onion.", ranges("10.0.0.0/8")));
});

test("the same IPv4 address gets one verdict plain and mapped, and only strict spellings are read", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.deepEqual(addressVerdict(address, []), addressVerdict(`::ffff:${address}`, []));
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), fc.ipV4Extended(), fc.string(), fc.stringMatching(/^[0-9a-f:.]{0,45}$/)), (text) => {
      const read = addressVerdict(text, ranges("0.0.0.0/0", "::/0")).allowed;
      assert.equal(read, isIP(text.replace(/^\[(.*)\]$/, "$1")) !== 0);
    }),
  );
});

function ranges(...cidrs: string[]): AddressRanges {
  const parsed = parseRanges(cidrs);
  assert.ok(parsed.ok);
  return parsed.ranges;
}
