// Which rule decides about a URL? RFC 9309 2.2.2 and 2.2.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { robotsVerdict } from "../../../core/robots/match.ts";
import { parseRobots } from "../../../core/robots/parse.ts";

const HOST = "https://site.example";
const rulesOf = (...lines: string[]) => parseRobots(Buffer.from(["User-agent: *", ...lines].join("\n")), "OurBot");
const allowed = (lines: string[], path: string): boolean => robotsVerdict(rulesOf(...lines), HOST + path).allowed;

test("the verdict names the rule that decided and its line", () => {
  const rules = rulesOf("Disallow: /shop", "Allow: /shop/open");
  assert.deepEqual(robotsVerdict(rules, `${HOST}/shop/open/1`), { allowed: true, rule: "Allow: /shop/open", line: 3 });
  assert.deepEqual(robotsVerdict(rules, `${HOST}/shop`), { allowed: false, rule: "Disallow: /shop", line: 2 });
  assert.deepEqual(robotsVerdict(rules, `${HOST}/`), { allowed: true });
});

test("each situation gets the standard's answer", () => {
  const rows: [situation: string, lines: string[], path: string, expected: boolean][] = [
    ["nothing forbids", [], "/x", true],
    ["a prefix forbids", ["Disallow: /a"], "/abc", false],
    ["letter case counts in paths", ["Disallow: /a"], "/A", true],
    ["the longer rule wins", ["Disallow: /a/b", "Allow: /a"], "/a/b/c", false],
    ["whatever the order", ["Allow: /a", "Disallow: /a/b"], "/a/b/c", false],
    ["allow wins a tie", ["Disallow: /a", "Allow: /a"], "/a", true],
    ["a wildcard rule is as long as it is written (R7)", ["Disallow: /", "Allow: /*/list/p=*/$"], "/7/list/p=3/", true],
    ["and says no where it does not match (R7)", ["Disallow: /", "Allow: /*/list/p=*/$"], "/7/list/p=3/x", false],
    ["robots.txt itself is always allowed", ["Disallow: /"], "/robots.txt", true],
    ["but not what only begins like it", ["Disallow: /"], "/robots.txt?x", false],
    ["the query belongs to the path", ["Disallow: /*?sid="], "/a?sid=1", false],
    ["the fragment does not", ["Disallow: /*secret"], "/a#secret", true],
    ["no path is the root", ["Disallow: /$"], "", false],
    ["a query straight after the host stands below the root", ["Disallow: /?x"], "?x=1", false],
    ["dollar ends the path", ["Disallow: /a$"], "/ab", true],
    ["a dollar inside is a dollar", ["Disallow: /a$b"], "/a$b", false],
    ["%24 in a rule is a dollar", ["Disallow: /a%24"], "/a$", false],
    ["%2A in a rule is a star, no wildcard", ["Disallow: /a%2Ab"], "/axb", true],
    ["and matches one", ["Disallow: /a%2Ab"], "/a*b", false],
    ["%2F in a rule is no slash (R5)", ["Disallow: /*%2Fprint"], "/a/print", true],
    ["but itself, in either case (R5)", ["Disallow: /*%2Fprint"], "/a%2fprint", false],
    ["an escaped unreserved octet is the octet, in the URL", ["Disallow: /~joe"], "/%7Ejoe", false],
    ["and in the rule", ["Disallow: /%62%61z"], "/baz", false],
    ["an octet beyond ASCII is its escape", ["Disallow: /ä"], "/%c3%a4", false],
    ["both ways", ["Disallow: /%C3%A4"], "/ä", false],
    ["a blank is its escape", ["Disallow: /a b"], "/a%20b", false],
    ["a stray percent sign is its escape", ["Disallow: /100%"], "/100%25", false],
    [
      "a URL in a query value, raw or escaped, is one to an escaped rule",
      ["Disallow: /go?to=https%3A%2F%2Fb.example"],
      "/go?to=https://b.example",
      false,
    ],
    ["and to a raw one", ["Disallow: /go?to=https://b.example"], "/go?to=https%3A%2F%2Fb.example", false],
    ["so are the other marks that part nothing there", ["Disallow: /find?q=@a?"], "/find?q=%40a%3f", false],
    ["both ways", ["Disallow: /find?q=%40a%3F"], "/find?q=@a?", false],
    ["but in a path they stay apart", ["Disallow: /a%3Fb"], "/a?b", true],
    ["a rule without slash matches no path", ["Disallow: a"], "/a", true],
    ["a rule may begin with a star", ["Disallow: *.pdf$"], "/x/y.pdf", false],
  ];
  for (const [situation, lines, path, expected] of rows) assert.equal(allowed(lines, path), expected, situation);
});

test("of many rules of one length the first in the file is named, an allowing one before all", () => {
  const rules = rulesOf("Disallow: /*a", "Disallow: /b*", "Allow: /*b", "Disallow: /ba");
  assert.equal(robotsVerdict(rules, `${HOST}/ba`).rule, "Allow: /*b");
  assert.equal(robotsVerdict(rules, `${HOST}/bx`).rule, "Allow: /*b");
  assert.equal(robotsVerdict(rulesOf("Disallow: /*a", "Disallow: /b*"), `${HOST}/ba`).rule, "Disallow: /*a");
});
