import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UsageError } from "../../pipelines/options.ts";
import { parsePolicies } from "../../pipelines/policy-file.ts";
import { limits } from "../../schemas/limits.ts";

const parse = (file: unknown) => parsePolicies(JSON.stringify(file), "p.json");
const withHosts = (...hosts: unknown[]) => ({ version: 1, hosts });

test("a file is its version and its policies, each as it was written", () => {
  const hosts = [
    { host: "example.org", delayMs: 200, concurrency: 2, pagesMax: 10, paused: false },
    { host: "*.example.org", agreed: false, delayMs: 5_000, limits: { pagesPerDay: 100, bytesPerDay: 1, templatesPerHost: 3 } },
    { host: "shop.test:8080", pattern: "http://shop.test:8080/list?**", limits: { urlsPerQueryTemplate: 50, sampleOneIn: 10 } },
    { host: "*", limits: { pathDepth: 12, softNotFoundUrls: 40 }, parameterRules: ["session-ids", "parameter-order"] },
    { host: "[::1]", excluded: true },
  ];
  assert.deepEqual(parse({ version: 7, hosts }), { version: 7, hosts });
});

test("a pattern without a host is for every host", () => {
  const pattern = "**/print/**";
  assert.deepEqual(parse(withHosts({ pattern, excluded: true })).hosts, [{ host: "*", pattern, excluded: true }]);
});

const faults: [situation: string, policy: unknown, said: RegExp][] = [
  ["no object", "a.test", /an object with "host"/],
  ["a list", [], /an object with "host"/],
  ["no host", { delayMs: 1 }, /"host" must be a host name in lower case, \*\.name, name:port, or \*/],
  ["a URL for a host", { host: "http://a.test/" }, /"host" must be/],
  ["a star in the middle", { host: "a.*.test" }, /"host" must be/],
  ["an unknown field", { host: "a.test", dealy: 1 }, /"dealy" is none of host, delayMs, .*pattern, limits, parameterRules/],
  ["a field of the prototype", JSON.parse('{"host": "a.test", "__proto__": 1}'), /"__proto__" is none of/],
  ["a switch as a number", { host: "a.test", excluded: 1 }, /"excluded" must be true or false/],
  ["a pattern as a list", { pattern: ["**"] }, /"pattern" must be a text: a glob/],
  ["an empty pattern", { pattern: "" }, /"pattern" "": the pattern is empty/],
  ["a pattern that no URL has", { pattern: "/list" }, /"pattern" "\/list": .* begins with neither http/],
  ["limits as a number", { host: "a.test", limits: 5 }, /"limits" must be an object of urlLength, pathDepth/],
  ["an unknown limit", { host: "a.test", limits: { depth: 1 } }, /limits: "depth" is none of urlLength, pathDepth/],
  ["a limit as a text", { host: "a.test", limits: { pathDepth: "9" } }, /"limits.pathDepth" must be a whole number from 0 to/],
  ["a limit of null", { host: "a.test", limits: { parseMs: null } }, /"limits.parseMs" must be a whole number from 1 to 60000/],
  ["more links than are ever taken", { host: "a.test", limits: { linksPerPage: 10_001 } }, /from 0 to 10000/],
  ["longer URLs than there are", { host: "a.test", limits: { urlLength: limits.urlLength + 1 } }, /from 1 to 2048/],
  [
    "a negative budget",
    { host: "a.test", limits: { pagesPerDay: -1 } },
    /"limits.pagesPerDay" must be a whole number of 0 or more/,
  ],
  ["rules as a text", { host: "a.test", parameterRules: "www" }, /"parameterRules" must be a list of session-ids, /],
  ["an unknown rule", { host: "a.test", parameterRules: ["www", "utm"] }, /"parameterRules": "utm" is none of session-ids/],
  ["a delay for some URLs", { host: "a.test", pattern: "**", delayMs: 9_000 }, /"delayMs" belongs to a whole host/],
  [
    "a day's budget for some URLs",
    { pattern: "**", limits: { bytesPerDay: 1 } },
    /"limits.bytesPerDay" belongs to a whole host/,
  ],
  [
    "haste for every host",
    { host: "*", delayMs: 10 },
    /"delayMs" must be a whole number of 1000 or more without an owner's consent/,
  ],
  ["haste by a measure of ours", { host: "a.test", agreed: false, concurrency: 2 }, /"concurrency" must be 1 without/],
  ["consent for every host", { host: "*", agreed: true }, /"agreed" must not be true/],
];
for (const [situation, policy, said] of faults)
  test(`the line names place, field and what is allowed: ${situation}`, () => {
    assert.throws(
      () => parse(withHosts({ host: "first.test" }, policy)),
      (error) =>
        error instanceof UsageError && error.message.startsWith("--policies p.json: hosts[1]: ") && said.test(error.message),
    );
  });

test("too many policies of one host are a fault, since each of its URLs would look through them", () => {
  const many = (count: number, host: string) => Array.from({ length: count }, () => ({ host }));
  assert.throws(() => parse(withHosts(...many(1_001, "a.test"))), /"a.test" stands in more than 1000 policies/);
  assert.equal(parse(withHosts(...many(1_000, "a.test"), ...many(1_000, "b.test"))).hosts.length, 2_000);
});

test("law: whatever the JSON, there is a file or a UsageError of one line", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom("host", "limits", "pattern"), fc.jsonValue()))),
      (hosts) => {
        try {
          parse({ version: 1, hosts });
        } catch (error) {
          assert.ok(error instanceof UsageError && !error.message.includes("\n"), String(error));
        }
      },
    ),
  );
});
