// Do the faults that crawlers in the field have shown stay away from URLs, traps and addresses? The U, T and X cases, each as a test of its kind.
import assert from "node:assert/strict";
import { isIP } from "node:net";
import type { TestContext } from "node:test";
import { judgeTemplates, type TemplateCandidate } from "../../../core/traps/judge-templates.ts";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { urlShapeRefusal } from "../../../core/traps/url-shape.ts";
import { hostKeyOf, urlIdentity } from "../../../core/url/keys.ts";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import { systemResolver } from "../../../io/http/dns.ts";
import type { TemplateCount } from "../../../schemas/template-count.ts";
import {
  answer,
  handClock,
  httpAnswer,
  loopbackHttp,
  rawServer,
  requestLimits,
  tableResolver,
} from "../../io/http/fixtures.ts";
import { START } from "../../transforms/world.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";
import { nameServer } from "./name-server.ts";

function spelled(raw: string, base?: string): string {
  const result = normalizeUrl(raw, base);
  return result.ok ? result.url : result.reason;
}

function all(rows: [raw: string, expected: string][]): void {
  for (const [raw, expected] of rows) assert.equal(spelled(raw), expected, raw);
}

/** The first line and Host header of the request that a URL leads to. */
async function requestOf(t: TestContext, url: string): Promise<string> {
  const server = await rawServer(t, httpAnswer("hello"));
  const http = loopbackHttp(t, {
    resolver: tableResolver({}),
    connectTo: () => ({ host: "127.0.0.1", port: server.port }),
  });
  await (await answer(http, url)).body({ wireBytes: 10, decodedBytes: 10 });
  return server.received().split("\r\n").slice(0, 2).join(" ");
}

/** How many of these URLs become records, found one page after another. */
function taken(urls: Iterable<string>): number {
  const known = new Map<string, TemplateCount>();
  let count = 0;
  for (const canonicalUrl of urls) {
    const candidate: TemplateCandidate = {
      canonicalUrl,
      urlId: urlIdentity(canonicalUrl).urlId,
      hostKey: hostKeyOf(canonicalUrl),
      limits: { ...defaultTrapLimits, urlsPerTemplate: 200, urlsPerQueryTemplate: 50, sampleOneIn: 100 },
    };
    const { verdicts, changed } = judgeTemplates([candidate], known.values(), START);
    for (const record of changed) known.set(`${record.hostKey} ${record.template}`, record);
    if (verdicts[0]!.verdict.kind !== "paused") count++;
  }
  return count;
}

const cases: FieldCase[] = [
  {
    id: "U2",
    holds: "an escape of what needs none is decoded, and no escape, whole or broken, is a fault",
    check() {
      all([
        ["https://example.org/a%2db/?q=f", "https://example.org/a-b/?q=f"],
        ["https://example.org/%7e%5F%2E%41?%2d", "https://example.org/~_.A?-"],
        ["https://example.org/%", "https://example.org/%"],
        ["https://example.org/%2", "https://example.org/%2"],
        ["https://example.org/%zz%2d", "https://example.org/%zz-"],
      ]);
    },
  },
  {
    id: "U4",
    holds: "a URL without a host is none",
    check() {
      all(
        ["http:/", "http://", "https:///", "http://?x", "http://#x", "http://:80/", "http://@/"].map((raw) => [
          raw,
          "malformed",
        ]),
      );
    },
  },
  {
    id: "U6",
    holds: "a query needs no path before it",
    check() {
      all([
        ["http://example.org?x=1", "http://example.org/?x=1"],
        ["http://example.org:8080?", "http://example.org:8080/?"],
        ["http://[::1]?x", "http://[::1]/?x"],
        ["http://example.org?/../x", "http://example.org/?/../x"],
      ]);
    },
  },
  {
    id: "U8",
    holds: "marks in a path are the path's, and parameters stay in their order",
    check() {
      for (const rest of ["/a&b/c?y=2&x=1", "/a;b=c,d/e!f*g'(h)", "/a=b?b&a&b", "/a+b?c+d", "/a@b:c/$"])
        assert.equal(spelled(`http://example.org${rest}`), `http://example.org${rest}`);
    },
  },
  {
    id: "U10",
    holds: "a name of any script has one form in ASCII, and it is its own form",
    check() {
      const names = [
        "straße☃.example.org",
        "faß.example.org",
        "☃.example.org",
        "ÖBB.example.org",
        "日本。example。org",
        "ＥＸ.example.org",
      ];
      for (const name of names) {
        const url = spelled(`http://${name}/`);
        assert.match(url, /^http:\/\/[a-z0-9.-]+\/$/, name);
        assert.equal(spelled(url), url);
      }
    },
  },
  {
    id: "U12",
    holds: "neither scheme nor port is changed for another",
    check() {
      all([
        ["http://example.org:8080/", "http://example.org:8080/"],
        ["http://example.org:443/", "http://example.org:443/"],
        ["https://example.org:80/", "https://example.org:80/"],
        ["http://example.org:80/", "http://example.org/"],
      ]);
    },
  },
  {
    id: "U14",
    holds: "dot segments go in whatever spelling, and dots within a name stay",
    check() {
      all([
        ["http://example.org/a/%2E%2E/b", "http://example.org/b"],
        ["http://example.org/a/.%2e/%2e/b", "http://example.org/b"],
        ["http://example.org/../../b", "http://example.org/b"],
        ["http://example.org/a/..b", "http://example.org/a/..b"],
        ["http://example.org/a../b...", "http://example.org/a../b..."],
        ["http://example.org/a?/../b", "http://example.org/a?/../b"],
      ]);
    },
  },
  {
    id: "U16",
    holds: "a name with an underscore is fetched like any other",
    async check(t) {
      const url = spelled("http://a_b.example.org/");
      assert.equal(url, "http://a_b.example.org/");
      assert.equal(await requestOf(t, url), "GET / HTTP/1.1 host: a_b.example.org");
    },
  },
  {
    id: "U18",
    holds: "the path of a request begins with a slash, whatever the link left out",
    async check(t) {
      for (const rest of ["?171", "?", "", "#x", "\\a", "?a/b"]) {
        const url = spelled(`http://example.org${rest}`);
        assert.match(await requestOf(t, url), /^GET \/\S* HTTP\/1\.1 host: example\.org$/, rest);
      }
    },
  },
  {
    id: "T1",
    holds: "a page that links to itself with one parameter more is not followed for ever",
    check() {
      const echoes = Array.from({ length: 300 }, (_, times) => `http://example.org/find?${"q=a&".repeat(times)}q=a`);
      assert.ok(echoes.filter((url) => urlShapeRefusal(url, defaultTrapLimits) === undefined).length < 10);
      const counting = Array.from({ length: 3000 }, (_, times) => `http://example.org/find?q=${times}`);
      assert.ok(taken(counting) <= 50 + 0.03 * counting.length, `${taken(counting)} taken`);
      assert.equal(taken(counting.slice(0, 20)), 20);
    },
  },
  {
    id: "T3",
    holds: "a search with many facets has one bound, however they are combined",
    check() {
      const names = Array.from({ length: 12 }, (_, at) => `f${at}`);
      const subset = (bits: number) => names.filter((_, at) => (bits >> at) & 1).map((name) => `${name}=${(bits * 7) % 5}`);
      const urls = Array.from({ length: 4095 }, (_, at) => `http://example.org/find?${subset(at + 1).join("&")}`);
      const count = taken(urls);
      assert.ok(count <= 400 + 0.03 * urls.length, `${count} of ${urls.length} taken`);
      assert.equal(taken(["http://example.org/other?x=1", "http://example.org/about"]), 2);
    },
  },
  {
    id: "X2",
    holds: "a name that leads to an inner address is refused before a connection",
    async check(t) {
      const resolver = tableResolver({ "public.example": [["10.0.0.5"]], "both.example": [["::ffff:10.0.0.5", "fd00::1"]] });
      for (const name of ["public.example", "both.example"]) {
        const result = await loopbackHttp(t, { resolver, allow: [] }).connect(`http://${name}/`, requestLimits);
        assert.ok(!result.ok && result.reason === "address" && result.sentAt === undefined, name);
      }
    },
  },
  {
    id: "X4",
    holds: "each hop of a redirect is judged like the first request, also one to the same name",
    async check(t) {
      const server = await rawServer(t, httpAnswer("hello", "Connection: close\r\n"));
      const resolver = tableResolver({ "site.example": [["127.0.0.1"], ["10.0.0.5"]] });
      const http = loopbackHttp(t, { resolver });
      await (await answer(http, `http://site.example:${server.port}/`)).body({ wireBytes: 10, decodedBytes: 10 });
      for (const hop of [
        "http://10.0.0.5/",
        "http://site.example:8081/",
        `http://site.example:${server.port}/again`,
        "http://[fd00::1]/",
      ]) {
        const result = await http.connect(hop, requestLimits);
        assert.ok(!result.ok && result.reason === "address", hop);
      }
      assert.equal(server.connections(), 1);
    },
  },
  {
    id: "X6",
    holds: "a name that leads to no address has not been resolved",
    async check(t) {
      const { server } = await nameServer(t, { "null.example.org": ["0.0.0.0"], "half.example.org": ["0.0.0.0", "192.0.2.1"] });
      const resolver = systemResolver({ clock: handClock(), servers: [server] });
      t.after(() => resolver.close());
      assert.equal((await resolver.resolve("null.example.org")).ok, false);
      const half = await resolver.resolve("half.example.org");
      assert.ok(half.ok && half.addresses.every((address) => isIP(address) !== 0 && address !== "0.0.0.0"));
      const result = await loopbackHttp(t, { resolver, allow: [] }).connect("http://null.example.org/", requestLimits);
      assert.ok(!result.ok && result.reason === "dns");
    },
  },
];

fieldCases("field cases U, T and X: URLs, traps, addresses", cases);
