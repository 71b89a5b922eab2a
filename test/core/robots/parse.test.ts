// Which rules are ours, whatever shape the file is in? RFC 9309 2.1, 2.2 and 2.5.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { robotsVerdict } from "../../../core/robots/match.ts";
import { parseRobots, type RobotsRules } from "../../../core/robots/parse.ts";
import { limits } from "../../../schemas/limits.ts";

const TOKEN = "OurBot";
const parse = (text: string | Uint8Array): RobotsRules =>
  parseRobots(typeof text === "string" ? Buffer.from(text) : text, TOKEN);
const patterns = (text: string | Uint8Array): string[] =>
  parse(text).rules.map((rule) => `${rule.allow ? "+" : "-"}${rule.pattern}`);

test("each shape of groups gives the rules that are ours", () => {
  const rows: [situation: string, file: string, expected: string[]][] = [
    ["our group alone counts", "User-agent: *\nDisallow: /all\nUser-agent: OurBot\nDisallow: /ours", ["-/ours"]],
    ["without one of ours the star's counts", "User-agent: OtherBot\nDisallow: /x\n\nUser-agent: *\nDisallow: /all", ["-/all"]],
    ["without either nothing does", "User-agent: OtherBot\nDisallow: /x", []],
    ["letter case is ignored", "uSER-aGENT: oURbOT\nDISALLOW: /P", ["-/P"]],
    ["a longer name is another", "User-agent: OurBot-News\nDisallow: /news\nUser-agent: *\nDisallow: /all", ["-/all"]],
    ["a shorter name is another", "User-agent: Our\nDisallow: /o\nUser-agent: *\nDisallow: /all", ["-/all"]],
    ["a version after the name is passed over", "User-agent: OurBot/2.1 (x)\nDisallow: /p", ["-/p"]],
    ["several agent lines share their rules (R11)", "User-agent: *\nUser-agent: other\nDisallow: /x", ["-/x"]],
    ["so they do in reverse order (R11)", "User-agent: other\nUser-agent: *\nDisallow: /x", ["-/x"]],
    [
      "groups of one agent are merged",
      "User-agent: OurBot\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: OurBot\nAllow: /b",
      ["-/a", "+/b"],
    ],
    [
      "star groups are merged",
      "User-agent: *\nDisallow: /a\nUser-agent: x\nAllow: /\nUser-agent: *\nDisallow: /b",
      ["-/a", "-/b"],
    ],
    [
      "a blank line between agent lines does not part them",
      "User-agent: OurBot\n\nUser-agent: x\nDisallow: /x\nUser-agent: *\nDisallow: /",
      ["-/x"],
    ],
    ["our group without rules still keeps the star's away", "User-agent: *\nDisallow: /\nUser-agent: OurBot", []],
    ["an empty Disallow is no rule and cancels none (R13)", "User-agent: *\nDisallow: /p\nDisallow:", ["-/p"]],
    ["an empty Disallow ends the agent lines", "User-agent: OurBot\nDisallow:\nUser-agent: x\nDisallow: /x", []],
    ["rules before any group are ignored (R17)", "Crawl-delay: 5\nDisallow: /z\nUser-agent: *\nDisallow: /p", ["-/p"]],
    [
      "a foreign record does not end a group",
      "User-agent: OurBot\nSitemap: /s.xml\nHost: h\nUser-agent: x\nDisallow: /p",
      ["-/p"],
    ],
    ["blank lines do not end a group", "User-agent: OurBot\n\n\nDisallow: /a\n\nDisallow: /b", ["-/a", "-/b"]],
    ["comments and blanks around are no part", " \t User-agent :OurBot # us\n Disallow:\t/a b \t# why", ["-/a b"]],
    ["a forgotten colon is forgiven where two words stand", "User-agent OurBot\nDisallow /p\nDisallow not this one", ["-/p"]],
    ["common slips of the pen are forgiven", "useragent: OurBot\nDissallow: /p\nDisalow: /q", ["-/p", "-/q"]],
    [
      "our name further behind in a whole header is not ours to take",
      "User-agent: Mozilla/5.0 (compatible; OurBot/1.0)\nAllow: /\nUser-agent: *\nDisallow: /all",
      ["-/all"],
    ],
    ["a star with more behind it is no star", "User-agent: *bot\nDisallow: /p", []],
  ];
  for (const [situation, file, expected] of rows) assert.deepEqual(patterns(file), expected, situation);
});

test("every line end gives the same rules and line numbers", () => {
  const lines = ["User-agent: *", "", "Disallow: /a", "# c", "Allow: /b"];
  for (const end of ["\n", "\r", "\r\n"]) {
    const { rules } = parse(lines.join(end));
    assert.deepEqual(
      rules.map(({ pattern, line }) => [pattern, line]),
      [
        ["/a", 3],
        ["/b", 5],
      ],
      JSON.stringify(end),
    );
  }
});

test("a byte order mark, whole or cut, is passed over", () => {
  for (const mark of [[0xef, 0xbb, 0xbf], [0xef, 0xbb], [0xef]]) {
    assert.deepEqual(patterns(Buffer.concat([Buffer.from(mark), Buffer.from("User-agent: *\nDisallow: /p")])), ["-/p"]);
  }
});

test("a byte that is not UTF-8 spoils neither its line nor the file (R9)", () => {
  const file = Buffer.from("User-agent: *\n# caf\xe9\nDisallow: /p\nDisallow: /caf\xe9", "latin1");
  assert.deepEqual(patterns(file), ["-/p", "-/caf%E9"]);
});

test("NUL bytes count as blanks at the ends of a value", () => {
  assert.deepEqual(patterns("User-agent: OurBot\0\0\nDisallow: /p\0"), ["-/p"]);
});

test("a very long line is read to its end", () => {
  const path = `/${"x".repeat(100_000)}`;
  assert.deepEqual(patterns(`User-agent: *\nDisallow: ${path}\nDisallow: /p`), [`-${path}`, "-/p"]);
});

test("the delay is that of our group alone, the largest, at most the limit", () => {
  const rows: [situation: string, file: string, expected: number | undefined][] = [
    [
      "the star's does not pass to a named group (R15)",
      "User-agent: *\nCrawl-delay: 30\nDisallow: /x\n\nUser-agent: OurBot\nDisallow: /y",
      undefined,
    ],
    ["nor without a rule between them", "User-agent: *\nCrawl-delay: 30\nUser-agent: OurBot\nDisallow: /y", undefined],
    ["the star's counts where we have no group", "User-agent: *\nCrawl-delay: 30", 30_000],
    ["of two the larger", "User-agent: *\nCrawl-delay: 3\nCrawl-delay: 9\nCrawl-delay: 6", 9000],
    [
      "over merged groups too",
      "User-agent: OurBot\nCrawl-delay: 3\nUser-agent: x\nDisallow: /\nUser-agent: OurBot\nCrawl-delay: 4",
      4000,
    ],
    ["fractions are kept", "User-agent: *\nCrawl-delay: 0.25", 250],
    ["ten minutes are ten minutes (R19)", "User-agent: *\nCrawl-delay: 600", 600_000],
    ["beyond the limit it is the limit", `User-agent: *\nCrawl-delay: ${"9".repeat(400)}`, limits.crawlDelayMsMax],
    ["nonsense is none", "User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: 1.2.3\nCrawl-delay: 1e9", undefined],
    ["a line full of digits is read once", `User-agent: *\nCrawl-delay: ${"9".repeat(limits.robotsBytes - 99)}x`, undefined],
    ["a number may end or begin with its point", "User-agent: *\nCrawl-delay: .5\nCrawl-delay: 2.", 2000],
    ["before any group it is nobody's (R17)", "Crawl-delay: 5\nUser-agent: *\nDisallow: /p", undefined],
  ];
  for (const [situation, file, expected] of rows) assert.equal(parse(file).crawlDelayMs, expected, situation);
});

test("sitemaps are taken from any place, as they stand (S15)", () => {
  const file = "Sitemap: /s.xml\nUser-agent: x\nDisallow: /\nsitemap:https://h.example/Ünï.xml?a=b:c\nSitemap:";
  assert.deepEqual(parse(file).sitemaps, ["/s.xml", "https://h.example/Ünï.xml?a=b:c"]);
});

test("bytes beyond the limit are not read, nor the line that it cuts", () => {
  const head = "User-agent: *\nDisallow: /kept\n";
  const cut = "Allow: /private/everything";
  const filler = `#${"-".repeat(limits.robotsBytes - head.length - 1 - "Allow: /\n".length)}\n`;
  const file = `${head}${filler}${cut}\nDisallow: /beyond`;
  assert.ok(file.indexOf(cut) < limits.robotsBytes && file.indexOf(cut) + cut.length > limits.robotsBytes);
  assert.deepEqual(patterns(file), ["-/kept"]);
});

const junk = fc.string({ unit: "binary" }).map((text) =>
  text
    .replace(/[\r\n]/g, "")
    .replace(/^/, "x-")
    .replace(/[: \t]/g, ""),
);
const directives = [
  "User-agent: OurBot",
  "User-agent: *",
  "User-agent: x",
  "Disallow: /a*b$",
  "Allow: /%e4",
  "Disallow:",
  "Crawl-delay: 2",
  "Sitemap: /s",
];

test("lines that say nothing change nothing, wherever the file ends", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...directives)), fc.array(junk), (lines, tail) => {
      assert.deepEqual(parse([...lines, ...tail].join("\n")), parse(lines.join("\n")));
    }),
  );
});

test("no bytes make parser or matcher throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.string(), (bytes, url) => void robotsVerdict(parse(bytes), url)));
  const shaped = fc.array(
    fc.tuple(fc.constantFrom(...directives, "Disallow: "), fc.string({ unit: "binary" })).map((pair) => pair.join("")),
  );
  fc.assert(fc.property(shaped, fc.webUrl(), (lines, url) => void robotsVerdict(parse(lines.join("\n")), url)));
});
