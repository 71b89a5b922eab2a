// Fuzzed: robots.txt, URLs, dates, waits and addresses. What a stranger writes there, we decide by.
import assert from "node:assert/strict";
import { isIP } from "node:net";
import fc from "fast-check";
import { parseHttpDate } from "../../core/http/http-date.ts";
import { internalName } from "../../core/http/internal-target.ts";
import { addressVerdict, parseRanges } from "../../core/http/public-address.ts";
import { retryAfterMs } from "../../core/http/retry-after.ts";
import { acquireRobots, type RobotsAnswer } from "../../core/robots/acquire.ts";
import { judgeRobots } from "../../core/robots/judge.ts";
import { robotsVerdict } from "../../core/robots/match.ts";
import { parseRobots } from "../../core/robots/parse.ts";
import { hostKeyOf, hostNameOf, paceKeyOfHost, registrableDomain } from "../../core/url/keys.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { limits } from "../../schemas/limits.ts";
import { bodyEnds, failureReasons } from "../../schemas/reasons.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { type FuzzedParser, fuzzed } from "./fuzz.ts";

const NOW = Date.UTC(2027, 2, 4, 10, 0, 0);

const anyText = fc.string({ unit: "binary", maxLength: 60 });

/** Text of pieces that mean something, in any order: most of it gets past the first gate. */
const of = (...pieces: string[]) =>
  fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...pieces) }, anyText), { maxLength: 40 })
    .map((parts) => parts.join(""));

const robotsText = of(
  ..."User-agent: |Disallow: |Allow: |Crawl-delay: |Sitemap: |ourbot|OurBot/2|*|/|/a|**|$|%2F|%zz|#|\n|\r|\r\n|\0|\u{feff}|é| |9|.|:".split(
    "|",
  ),
);

const pathText = of(..."/|a|b|*|$|?|%2F|%2f|%41|%|&|=|#|é|http://|..|.".split("|"));

const urlText = of(
  ..."http://|https://|HTTP:|//|/|\\|@|:|:80|:65536|[::1]|127.1|0x7f|example.org|ex ample|xn--|%2e|%|?|#|..|.|é|\t|\n| |☃|-|_|a".split(
    "|",
  ),
);

const dateText = of(
  ..."Sun|Sunday|, | |06|6|-|Nov|Feb|1994|94|0000|08:49:37|23:59:60|24:00:00| GMT| UTC| EST|+0100|T|Z|.5|:|99999999999999999999|-1".split(
    "|",
  ),
);

const nameText = of(..."a|.|..|localhost|LOCAL|internal|onion|home|arpa|svc|metadata|goog|-|xn--|é|example.org|1".split("|"));

const robotsAnswer: fc.Arbitrary<RobotsAnswer> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("response" as const),
      url: fc.constant("https://h.example/robots.txt"),
      status: fc.oneof(fc.constantFrom(200, 204, 301, 302, 304, 307, 404, 429, 500, 503), fc.integer()),
      body: fc.uint8Array({ maxLength: 50 }),
      location: urlText,
      etag: fc.string(),
      lastModified: fc.string(),
      retryAfterMs: fc.double(),
      maxAgeMs: fc.double(),
    },
    { requiredKeys: ["kind", "url", "status"] },
  ),
  fc.record({ kind: fc.constant("failure" as const), reason: fc.constantFrom(...failureReasons, ...bodyEnds) }),
  fc.record({ kind: fc.constant("put-off" as const), target: urlText, hop: fc.nat(8), until: fc.double() }),
);

const addressText = of(..."::|:|.|0|1|127|255|256|0177|0x7f|ffff|64:ff9b|169.254|[|]|%|eth0|/8|g".split("|"));

export const ruleParsers: readonly FuzzedParser[] = [
  fuzzed("robots", fc.tuple(robotsText, pathText), ([file, path]) => {
    const rules = parseRobots(Buffer.from(file), "OurBot");
    assert.ok(rules.crawlDelayMs === undefined || (rules.crawlDelayMs >= 0 && rules.crawlDelayMs <= limits.crawlDelayMsMax));
    assert.ok(rules.rules.length + rules.sitemaps.length <= file.split(/\r\n|\r|\n/).length);
    const { allowed, rule, line } = robotsVerdict(rules, `https://h.example/${path}`);
    assert.equal(rule === undefined, line === undefined);
    const marked = parseRobots(Buffer.from(`\u{feff}${file.replace(/^\u{feff}+/u, "")}`), "ourBOT");
    const plain = parseRobots(Buffer.from(file.replace(/^\u{feff}+/u, "")), "OurBot");
    assert.deepEqual(marked, plain, "neither letter case nor a byte order mark changes anything");
    assert.ok(rule !== undefined || allowed, "what no rule names is allowed");
    assert.deepEqual(robotsVerdict(rules, "https://h.example/robots.txt"), { allowed: true });
  }),
  fuzzed("robots-bytes", fc.tuple(fc.uint8Array({ maxLength: 2000 }), anyText), ([body, url]) => {
    robotsVerdict(parseRobots(body, "OurBot"), url);
  }),
  fuzzed("robots-long", fc.tuple(robotsText, fc.integer({ min: 1, max: 30_000 }), pathText), ([piece, times, path]) => {
    const whole = Buffer.from(`User-agent: *\nDisallow: /${piece.repeat(times).slice(0, 2 * limits.robotsBytes)}`);
    const read = parseRobots(whole, "OurBot");
    assert.deepEqual(parseRobots(whole.subarray(0, limits.robotsBytes), "OurBot"), read, "nothing beyond the limit counts");
    robotsVerdict(read, path.repeat(50));
  }),
  fuzzed(
    "robots-answers",
    fc.tuple(fc.array(robotsAnswer, { minLength: 1, maxLength: 12 }), fc.double()),
    ([answers, jitter]) => {
      let state: RobotsState | undefined;
      for (const answer of answers) {
        const step = acquireRobots(state, answer, NOW, jitter);
        state = step.state;
        assert.ok(Number.isSafeInteger(state.expiresAt) && state.expiresAt >= NOW, `expires at ${state.expiresAt}`);
        assert.ok((state.hop ?? 0) <= limits.robotsHops);
        assert.ok(state.expiresAt <= NOW + limits.retryAfterMsMax);
        const judged = judgeRobots(state, undefined, "https://h.example/", NOW).verdict;
        assert.equal(judged === "allow", state.status === "allow-all" && state.expiresAt > NOW);
      }
    },
  ),
  fuzzed("url", fc.tuple(urlText, fc.option(urlText, { nil: undefined })), ([raw, base]) => {
    const once = normalizeUrl(raw, base);
    if (!once.ok) return;
    assert.ok(once.url.length <= limits.urlLength);
    assert.match(once.url, /^https?:\/\/[^/?#@]+\/[^#]*$/);
    assert.deepEqual(normalizeUrl(once.url), once);
    assert.equal(URL.parse(once.url)?.href, once.url);
    const hostKey = hostKeyOf(once.url);
    assert.ok(once.url.startsWith(`${hostKey}/`));
    const name = hostNameOf(once.url);
    assert.ok(paceKeyOfHost(hostKey).startsWith(name));
    assert.ok(name.endsWith(registrableDomain(name)) && registrableDomain(name) !== "");
  }),
  fuzzed("registrable-domain", anyText, (name) => {
    const domain = registrableDomain(name);
    assert.equal(registrableDomain(domain), domain);
  }),
  fuzzed("http-date", fc.tuple(dateText, fc.option(fc.integer(), { nil: undefined })), ([value, now]) => {
    const at = parseHttpDate(value, now);
    if (at === undefined) return;
    assert.ok(Number.isSafeInteger(at));
    assert.equal(parseHttpDate(new Date(at).toUTCString()), at);
  }),
  fuzzed("retry-after", dateText, (value) => {
    const wait = retryAfterMs(value, NOW);
    assert.ok(wait === undefined || (wait > 0 && wait <= limits.retryAfterMsMax));
  }),
  fuzzed("address", addressText, (text) => {
    const everything = parseRanges(["0.0.0.0/0", "::/0"]);
    assert.ok(everything.ok);
    const bare = text.replace(/^\[(.*)\]$/s, "$1");
    assert.equal(addressVerdict(text, everything.ranges).allowed, isIP(bare) !== 0, "read as Node reads it, or not at all");
    if (addressVerdict(text, []).allowed) assert.ok(isIP(bare) !== 0);
  }),
  fuzzed("internal-name", nameText, (name) => {
    const loopback = parseRanges(["127.0.0.0/8"]);
    assert.ok(loopback.ok);
    const always = internalName(name, loopback.ranges) !== undefined;
    assert.ok(!always || internalName(name, []) !== undefined, "an allowed range opens, and never closes");
    assert.equal(internalName(name.toUpperCase(), []), internalName(name, []), "letter case does not matter");
  }),
];
