// Do keys tell URLs, hosts and clocks apart, and only those that are apart?
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { alternateIdentity, hostKeyOf, hostNameOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";

test("a URL's id is the first 128 bits of its digest", () => {
  const digest = createHash("sha256").update("https://example.org/é").digest();
  const { urlId } = urlIdentity("https://example.org/é");
  assert.equal(urlId.length, 22);
  assert.deepEqual(Buffer.from(urlId, "base64url"), digest.subarray(0, 16));
});

test("every id is spelled as base64url spells its 16 bytes, whatever bits follow them in the digest", () => {
  for (let number = 0; number < 500; number++) {
    const url = `https://example.org/${number}`;
    const digest = createHash("sha256").update(url).digest();
    assert.equal(urlIdentity(url).urlId, digest.toString("base64url", 0, 16));
  }
});

test("on a collision the second half of the digest is the id", () => {
  const digest = createHash("sha256").update("https://example.org/").digest();
  const { urlId } = alternateIdentity("https://example.org/");
  assert.deepEqual(Buffer.from(urlId, "base64url"), digest.subarray(16));
});

const hosts: [url: string, hostKey: string, hostName: string, paceKey: string, byDomain: string][] = [
  ["https://www.example.co.uk/a?b", "https://www.example.co.uk", "www.example.co.uk", "www.example.co.uk", "example.co.uk"],
  ["http://www.example.co.uk/", "http://www.example.co.uk", "www.example.co.uk", "www.example.co.uk", "example.co.uk"],
  ["https://example.org:8443/", "https://example.org:8443", "example.org", "example.org:8443", "example.org"],
  ["http://[::1]:8080/x", "http://[::1]:8080", "[::1]", "[::1]:8080", "[::1]"],
  ["http://[::1]/x", "http://[::1]", "[::1]", "[::1]", "[::1]"],
  ["http://127.0.0.1:3000/", "http://127.0.0.1:3000", "127.0.0.1", "127.0.0.1:3000", "127.0.0.1"],
  ["http://localhost/", "http://localhost", "localhost", "localhost", "localhost"],
  ["http://.example.org/", "http://.example.org", ".example.org", ".example.org", ".example.org"],
  ["https://me.github.io/", "https://me.github.io", "me.github.io", "me.github.io", "me.github.io"],
];

for (const [url, hostKey, hostName, paceKey, byDomain] of hosts)
  test(`the keys of ${url}`, () => {
    assert.deepEqual(
      [hostKeyOf(url), hostNameOf(url), paceKeyOfHost(hostKey), paceKeyOfHost(hostKey, "domain")],
      [hostKey, hostName, paceKey, byDomain],
    );
  });
