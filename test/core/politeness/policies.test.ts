import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isAgreed, policiesOf } from "../../../core/politeness/policies.ts";
import type { HostPolicy } from "../../../schemas/crawl-config.ts";

const FILE: HostPolicy[] = [
  { host: "example.org:8080" },
  { host: "*.example.org" },
  { host: "example.org" },
  { host: "*" },
  { host: "*.org" },
  { host: "[::1]" },
  { host: "example.org", paused: true },
];

const rows: [authority: string, places: number[]][] = [
  ["example.org", [1, 2, 3, 4, 6]],
  ["example.org:8080", [0, 1, 2, 3, 4, 6]],
  ["example.org:8081", [1, 2, 3, 4, 6]],
  ["a.b.example.org", [1, 3, 4]],
  ["badexample.org", [3, 4]],
  ["example.net", [3]],
  ["[::1]:81", [3, 5]],
  ["", [3]],
  ["..", [3]],
];
for (const [authority, places] of rows)
  test(`policies of '${authority}', in the order of the file`, () => {
    assert.deepEqual(
      policiesOf(FILE, authority),
      places.map((place) => FILE[place]),
    );
  });

test("of no file there are none, and a second look gives the same list", () => {
  assert.deepEqual(policiesOf([], "example.org"), []);
  assert.equal(policiesOf(FILE, "example.org"), policiesOf(FILE, "example.org"));
});

test("law: the index finds what reading the whole file would", () => {
  const label = fc.constantFrom("a", "b", "org");
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
  const host = fc.oneof(
    name,
    name.map((one) => `*.${one}`),
    name.map((one) => `${one}:81`),
    fc.constant("*"),
  );
  const covers = (written: string, authority: string) => {
    const bare = authority.replace(/:\d+$/, "");
    if (written.startsWith("*.")) return bare === written.slice(2) || bare.endsWith(written.slice(1));
    return written === "*" || written === authority || written === bare;
  };
  fc.assert(
    fc.property(fc.array(host, { maxLength: 12 }), name, fc.boolean(), (hosts, bare, port) => {
      const policies = hosts.map((one) => ({ host: one }));
      const authority = port ? `${bare}:81` : bare;
      assert.deepEqual(
        policiesOf(policies, authority),
        policies.filter((policy) => covers(policy.host, authority)),
      );
    }),
  );
});

const consents: [policy: HostPolicy, agreed: boolean][] = [
  [{ host: "example.org" }, true],
  [{ host: "*.example.org", delayMs: 1 }, true],
  [{ host: "example.org", agreed: true }, true],
  [{ host: "example.org", agreed: false }, false],
  [{ host: "*" }, false],
  [{ host: "example.org", pattern: "**/x" }, false],
];
for (const [policy, agreed] of consents)
  test(`${JSON.stringify(policy)} tells ${agreed ? "of" : "of no"} consent`, () => {
    assert.equal(isAgreed(policy), agreed);
  });
