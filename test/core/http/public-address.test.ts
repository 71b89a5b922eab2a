import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { type AddressRanges, addressVerdict, parseRanges } from "../../../core/http/public-address.ts";

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
  const odd6 = ["::ffff:0177.0.0.1", "1::2::3", ":1", "1:2:3:4:5:6:7", "::1%", "::1%/8", "[::1", "2606:4700::g", "::1.2.3"];
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

test("every kind of block is refused from its first to its last address, and what lies beside it is not", () => {
  const rows: [first: string, last: string, before: string, after: string][] = [
    ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
    ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
    ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
    ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
    ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
    ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
    ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
    ["224.0.0.0", "255.255.255.255", "223.255.255.255", "1.0.0.0"],
    ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
    ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
    ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
    ["::ffff:10.0.0.0", "::ffff:10.255.255.255", "::ffff:9.255.255.255", "::ffff:11.0.0.0"],
  ];
  for (const [first, last, before, after] of rows) {
    const verdicts = [first, last, before, after].map((address) => addressVerdict(address, []).allowed);
    assert.deepEqual(verdicts, [false, false, true, true], first);
  }
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
