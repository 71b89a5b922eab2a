// How far do parser and matcher agree with the public suites, and with three independent programs? Figures are printed; see ../shared/data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { robotsVerdict } from "../../../core/robots/match.ts";
import { parseRobots } from "../../../core/robots/parse.ts";
import { sharedBytes, sharedCases, tally } from "./shared-data.ts";

interface Case {
  name: string;
  robots: string;
  robotsB64?: string;
  agent?: string;
  url?: string;
  allowed?: boolean | null;
  rfcExpected?: boolean;
  rfcNote?: string;
  scope?: string;
  consensus?: boolean;
  crawlDelayMs?: number;
  crawlDelaySeconds?: number | null;
  sitemaps?: string[];
  matchingLine?: number;
  robotsUrl?: string | null;
}

const bodyOf = (one: Pick<Case, "robots" | "robotsB64">) =>
  one.robotsB64 === undefined ? Buffer.from(one.robots) : Buffer.from(one.robotsB64, "base64");
const answerOf = (one: Case) => robotsVerdict(parseRobots(bodyOf(one), one.agent!), one.url!);

/** Where the standard's text and all three programs differ, we have to be apart from one of them. */
const decided: Record<string, string> = {
  "ID_LineSyntax_Line#3": "a missing colon is forgiven, as all three do: who wrote `disallow /` meant it",
  "GoogleOnly_IndexHTMLisDirectory#1":
    "an Allow of /x/index.html is none of /x/: the standard compares octets, and this way only forbids more",
};

/** Cases that a reader of RFC 9309 can be asked. */
const inScope = (one: Case) =>
  (one.scope ?? "rfc9309") === "rfc9309" && (one.rfcNote === undefined || one.rfcExpected !== undefined);
const right = (one: Case) => answerOf(one).allowed === (one.rfcExpected ?? one.allowed);
const score = (cases: Case[], passes: (one: Case) => boolean) => `${cases.filter(passes).length}/${cases.length}`;

/**
 * What is missed in files without a scope: agents that are no product tokens ("FigTree Robot libwww-perl/5.04", matched by prefix or as
 * a whole User-Agent header), %2F taken for a slash, letter case ignored in paths, keys unknown to the standard that end a group.
 */
const reached: Record<string, { all: string; inScope: string; consensus: string }> = {
  "robots-google.json": { all: "71/73", inScope: "29/30", consensus: "64/65" },
  "robots-spectest.json": { all: "199/200", inScope: "186/186", consensus: "187/187" },
  "robots-crawlercommons.json": { all: "197/215", inScope: "113/113", consensus: "168/168" },
  "robots-cpython.json": { all: "98/106", inScope: "63/69", consensus: "77/77" },
  "robots-protego.json": { all: "179/188", inScope: "179/188", consensus: "156/156" },
  "robots-robotsparserjs.json": { all: "72/77", inScope: "72/77", consensus: "63/63" },
};

for (const [file, expected] of Object.entries(reached)) {
  test(`yardstick: ${file}`, (t) => {
    const cases = sharedCases<Case>(t, file).filter((one) => typeof one.allowed === "boolean" && one.agent !== undefined);
    if (cases.length === 0) return;
    const agreed = cases.filter((one) => one.consensus === true);
    const asAgreed = (one: Case) => answerOf(one).allowed === one.allowed;
    const got = { all: score(cases, right), inScope: score(cases.filter(inScope), right), consensus: score(agreed, asAgreed) };
    t.diagnostic(`${file}: all ${got.all}, in scope ${got.inScope}, consensus ${got.consensus}`);
    assert.deepEqual(got, expected);
    const strict = cases.filter((one) => one.scope === "rfc9309" && inScope(one) && !right(one));
    const apart = [...strict, ...agreed.filter((one) => !asAgreed(one))]
      .map((one) => one.name)
      .filter((name) => !(name in decided));
    assert.deepEqual(apart, []);
  });
}

test("yardstick: delays, sitemaps and deciding lines of all suites", (t) => {
  const cases = Object.keys(reached).flatMap((file) => sharedCases<Case>(t, file));
  const rulesOf = (one: Case) => parseRobots(bodyOf(one), one.agent ?? "*");
  const delays = cases.filter((one) => one.agent !== undefined && (one.crawlDelayMs ?? one.crawlDelaySeconds) !== undefined);
  const delayOf = (one: Case) =>
    one.crawlDelayMs ?? (one.crawlDelaySeconds === null ? undefined : one.crawlDelaySeconds! * 1000);
  const lists = cases.filter((one) => one.sitemaps !== undefined);
  const listOf = (one: Case) =>
    rulesOf(one).sitemaps.map((value) =>
      one.scope === undefined ? value : (URL.parse(value, one.url ?? "http://domain.com/")?.href ?? value),
    );
  const lines = cases.filter((one) => one.matchingLine !== undefined);
  if (cases.length === 0) return;
  const got = {
    delays: score(delays, (one) => rulesOf(one).crawlDelayMs === delayOf(one)),
    sitemaps: score(lists, (one) => isDeepStrictEqual(listOf(one), one.sitemaps)),
    lines: score(lines, (one) => (answerOf(one).line ?? -1) === one.matchingLine),
  };
  t.diagnostic(JSON.stringify(got));
  // Missed: a bare URL on a line of its own, without "Sitemap:", taken for a sitemap
  assert.deepEqual(got, { delays: "20/20", sitemaps: "9/10", lines: "5/5" });
});

test("yardstick: robots-google-parse.json", (t) => {
  interface ParseCase {
    robots: string;
    robotsB64?: string;
    validDirectives?: number;
    lastLine?: number;
    sitemap?: string;
  }
  const counted = (one: ParseCase) => {
    const rules = [...parseRobots(bodyOf(one), "foo").rules, ...parseRobots(bodyOf(one), "bar").rules];
    return { rules: rules.length, last: Math.max(0, ...rules.map((rule) => rule.line)) };
  };
  const cases = sharedCases<ParseCase>(t, "robots-google-parse.json");
  const passes = (one: ParseCase) => {
    if (one.sitemap !== undefined) return isDeepStrictEqual(parseRobots(bodyOf(one), "foo").sitemaps, [one.sitemap]);
    if (one.lastLine !== undefined) return counted(one).last === one.lastLine;
    return counted(one).rules === one.validDirectives! - 1; // the agent line is the other one; a broken mark voids it, and so its rule
  };
  tally(t, cases, passes);
});

test("yardstick: robots-google-helpers.json, what can be asked of rules", (t) => {
  const all = sharedCases<{ fn: string; input: string; expected: string }>(t, "robots-google-helpers.json");
  const rules = (...lines: string[]) => parseRobots(Buffer.from(["User-agent: *", ...lines].join("\n")), "foo");
  const passes = ({ fn, input, expected }: { fn: string; input: string; expected: string }) =>
    fn === "pathParamsQuery"
      ? robotsVerdict(rules("Disallow: /", `Allow: ${expected}$`), input).allowed
      : !robotsVerdict(rules(`Disallow: /${input}`), `http://h.example/${expected}`).allowed;
  const known = {
    "example.com/a/": "a URL without scheme is read as a path: ours are absolute",
    "example.com?a": "likewise",
    a: "likewise",
    "example.com/": "likewise",
  };
  tally(
    t,
    all.filter(({ fn }) => fn !== "isValidProductToken"),
    passes,
    known,
    ({ input }) => input,
  );
});

test("yardstick: robots-real.ndjson.gz, wherever three programs agree", (t) => {
  interface Site {
    host: string;
    robots: string;
    robotsB64?: string;
    crawlDelayMs: Record<string, number | null>;
    probes: { agent: string; url: string; allowed?: boolean }[];
  }
  const packed = sharedBytes(t, "robots-real.ndjson.gz");
  if (packed === undefined) return;
  const sites = gunzipSync(packed)
    .toString()
    .trim()
    .split("\n")
    .map((line): Site => JSON.parse(line));
  let total = 0;
  const apart = new Set<string>();
  for (const site of sites) {
    for (const agent of Object.keys(site.crawlDelayMs)) {
      const rules = parseRobots(bodyOf(site), agent);
      for (const probe of site.probes.filter((one) => one.agent === agent && one.allowed !== undefined)) {
        total++;
        if (robotsVerdict(rules, probe.url).allowed !== probe.allowed) apart.add(`${agent} ${probe.url}`);
      }
    }
  }
  t.diagnostic(`robots-real.ndjson.gz: ${total - apart.size}/${total}`);
  // Both are the index.html that we decided on above
  assert.deepEqual(
    [...apart].map((one) => new URL(one.split(" ")[1]!).hostname),
    ["www.telstra.com.au", "www.telstra.com.au"],
  );
});
