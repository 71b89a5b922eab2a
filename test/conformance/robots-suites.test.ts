// Do parser and matcher agree with the public suites? RFC 9309 2.1 to 2.2.4, by `rfcExpected ?? allowed`: consensus cases among them.
import { isDeepStrictEqual } from "node:util";
import { robotsVerdict } from "../../core/robots/match.ts";
import { parseRobots, type RobotsRules } from "../../core/robots/parse.ts";
import { hostKeyOf } from "../../core/url/keys.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { conformance } from "./lib.ts";

interface Case {
  name: string;
  i: number;
  robots: string;
  robotsB64?: string;
  robotsUrl?: string | null;
  agent?: string;
  agents?: string[];
  url?: string;
  allowed?: boolean | null;
  rfcExpected?: boolean;
  scope?: string;
  crawlDelayMs?: number;
  crawlDelaySeconds?: number | null;
  sitemaps?: string[];
  matchingLine?: number;
  requestRate?: unknown;
  visitTime?: unknown;
  preferredHost?: unknown;
}

const files = [
  "robots-google.json",
  "robots-spectest.json",
  "robots-crawlercommons.json",
  "robots-cpython.json",
  "robots-protego.json",
  "robots-robotsparserjs.json",
];

const otherRecords = "2.2.4: other records MAY be interpreted; this one is not, the host clock paces";
const header = "2.2.1: our product token is configured, not looked for in a whole User-Agent header or before its version";
const severalNames = "2.2: a line names one product token; behind the first one, a value is a comment";
const grammar = "2.2.1: no product token holds this";
const octets = "2.2.2: %2F stands for itself in a path and is no slash, as its table has it";

const justified: Record<string, string> = {
  "ID_LineSyntax_Line#3 (6)": "2.2.4: a missing colon is forgiven, as all three programs do: who wrote `disallow /` meant it",
  "GoogleOnly_AcceptUserAgentUpToFirstSpace#2 (40)": grammar,
  "stress/369883#1.7 (200)":
    "outside 2.2.1: an agent with a digit; where one is configured, the line that holds it is taken whole",
  "SimpleRobotRulesParserTest.testMixedEndings1#1 (46)": header,
  "SimpleRobotRulesParserTest.testRfpCases#2 (366)": header,
  "SimpleRobotRulesParserTest.testRfpCases#6 (370)": header,
  "SimpleRobotRulesParserTest.testRfpCases#10 (374)": header,
  "SimpleRobotRulesParserTest.testRfpCases#16 (380)": header,
  "SimpleRobotRulesParserTest.testRfpCases#20 (384)": header,
  "SimpleRobotRulesParserTest.testRfpCases#22 (386)": header,
  "SimpleRobotRulesParserTest.testRfpCases#26 (390)": header,
  "SimpleRobotRulesParserTest.testNutchCases2#35 (144)": severalNames,
  "SimpleRobotRulesParserTest.testNutchCases2#37 (146)": severalNames,
  "SimpleRobotRulesParserTest.testNutchCases2#47 (156)": severalNames,
  "SimpleRobotRulesParserTest.testNutchCases2#55 (164)": severalNames,
  "SimpleRobotRulesParserTest.testSpacesInMultipleUserAgentNames#2 (282)": severalNames,
  "SimpleRobotRulesParserTest.testOverrideUserAgentMatcher#2 (470)": grammar,
  "SimpleRobotRulesParserTest.testRobotsWithUTF16BEBOM#1 (294)": "2.3: the file is UTF-8",
  "SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt#3 (332)": "2.2: markup is no record, nor part of one",
  "SimpleRobotRulesParserTest.testDirectiveTypos#4 (402)":
    "2.2: `useg-agent` is no record; of misspellings the common ones alone are forgiven",
  "SimpleRobotRulesParserTest.testRfpCases#30 (394)": header,
  "SimpleRobotRulesParserTest.testMatchingUserAgentNamesHttpHeader#2 (286)": header,
  "SimpleRobotRulesParserTest.testSitemap#1 (468)": "2.2.4: a URL alone on its line is no Sitemap record",
  "DefaultEntryTest (20)": otherRecords,
  "DifferentAgentTest (22)": header,
  "DifferentAgentTest (24)": header,
  "DifferentAgentTest (26)": header,
  "DifferentAgentTest (28)": header,
  "DifferentAgentTest (30)": otherRecords,
  "PercentEncodingTest (134)": octets,
  "PercentEncodingTest (136)": octets,
  "LocalNetworkTestCase.testRead (218)": octets,
  "test_request_rate#1 (52)": otherRecords,
  "test_request_rate#3 (54)": otherRecords,
  "test_request_rate#5 (56)": otherRecords,
  "test_request_rate_bare_number#2 (58)": otherRecords,
  "test_request_rate_bare_number#4 (60)": otherRecords,
  "test_generosity#5 (270)": otherRecords,
  "test_visit_time#1 (328)": otherRecords,
  "test_unicode_url_and_useragent#15 (134)": header,
  "test_grouping_unknown_keys#2 (260)": "2.2.4: other records MUST NOT end a group",
  "test_generosity#3 (268)": "2.2: three words without a colon are no record",
  "test_generosity#7 (272)": "2.2.1: a star within a name is no wildcard",
  "test_special_symbols_dual_behaviour#3 (316)": "2.2.3: a final dollar ends the path; %24 in a rule is the dollar",
  "test_with_absolute_urls#2 (318)": "2.2.2: a rule begins with a slash; a URL is none of a path",
  "test_user_agent_precedence#2 (336)": "2.2.1: the whole token has to match, its beginning will not do",
  "test_user_agent_precedence#8 (342)": "2.2.1: likewise",
  "test_user_agent_precedence#12 (346)": "2.2.1: likewise",
  "Robots should handle lone high / low surrogates #2 (122)":
    "2.3: a file is octets, which spell no lone surrogate: both are U+FFFD",
  "Robots should handle invalid robots.txt urls #5 (144)": otherRecords,
  "Robots should treat only the last host directive as valid #1 (160)": otherRecords,
};

conformance({
  name: "robots.txt: the suites",
  files,
  cases: 923,
  justified,
  judge(data, check) {
    for (const file of files)
      for (const one of data.json<Case[]>(file)) {
        const { got, wanted } = asked(one);
        check(`${one.name} (${one.i})`, got, wanted);
      }
  },
});

interface Asked {
  got: () => unknown;
  wanted: unknown;
}

function asked(one: Case): Asked {
  const rules = rulesOf(one);
  if (one.allowed !== undefined) return isOurs(one) ? verdict(one, rules) : { got: () => false, wanted: one.allowed ?? false };
  if (one.matchingLine !== undefined) return { got: () => robotsVerdict(rules, one.url!).line ?? -1, wanted: one.matchingLine };
  if (one.sitemaps !== undefined) return { got: () => sitemapsOf(one, rules), wanted: one.sitemaps };
  if (one.crawlDelayMs !== undefined || one.crawlDelaySeconds !== undefined)
    return { got: () => rules.crawlDelayMs, wanted: one.crawlDelayMs ?? inMs(one.crawlDelaySeconds) };
  return { got: () => undefined, wanted: one.requestRate ?? one.visitTime ?? one.preferredHost ?? undefined };
}

function verdict(one: Case, rules: RobotsRules): Asked {
  return { got: () => robotsVerdict(rules, one.url!).allowed, wanted: one.rfcExpected ?? one.allowed };
}

/** 2.3: a file rules its own scheme and authority. We never ask about another: the state of a host key holds its rules. */
function isOurs({ robotsUrl, url }: Case): boolean {
  return robotsUrl === undefined || keyOf(robotsUrl ?? "") === keyOf(url!);
}

function keyOf(url: string): string | undefined {
  if (url.startsWith("/")) return "";
  const normalized = normalizeUrl(url);
  return normalized.ok ? hostKeyOf(normalized.url) : `no URL: ${url}`;
}

/** Of several agents the suite merges all groups that name any; of one, parseRobots gives them. */
function rulesOf(one: Case): RobotsRules {
  const body = one.robotsB64 === undefined ? Buffer.from(one.robots) : Buffer.from(one.robotsB64, "base64");
  if (one.agents === undefined) return parseRobots(body, one.agent ?? "*");
  const nobody = parseRobots(body, "no-agent-of-any-file");
  const named = one.agents.map((agent) => parseRobots(body, agent)).filter((rules) => !isDeepStrictEqual(rules, nobody));
  if (named.length === 0) return nobody;
  const delays = named.flatMap(({ crawlDelayMs }) => crawlDelayMs ?? []);
  const merged = { rules: named.flatMap(({ rules }) => rules), sitemaps: nobody.sitemaps };
  return delays.length === 0 ? merged : { ...merged, crawlDelayMs: Math.max(...delays) };
}

/** crawler-commons resolves them against the file; ours are as they stand, and resolved by who fetches them. */
function sitemapsOf({ scope, robotsUrl, url }: Case, { sitemaps }: RobotsRules): string[] {
  const base = robotsUrl ?? url ?? "http://domain.com/";
  return scope === undefined ? [...sitemaps] : sitemaps.map((value) => URL.parse(value, base)?.href ?? value);
}

function inMs(seconds: number | null | undefined): number | undefined {
  return seconds === null || seconds === undefined ? undefined : seconds * 1000;
}
