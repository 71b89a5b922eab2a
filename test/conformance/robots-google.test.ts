// What can rules be asked of Google's own tests of its parser and helpers? How many lines are read, and how paths come to one form.
import { robotsVerdict } from "../../core/robots/match.ts";
import { parseRobots } from "../../core/robots/parse.ts";
import { conformance } from "./lib.ts";

interface ParseCase {
  name: string;
  robots: string;
  robotsB64?: string;
  validDirectives?: number;
  lastLine?: number;
  sitemap?: string;
  i: number;
}

interface HelperCase {
  fn: "pathParamsQuery" | "escapePattern" | "isValidProductToken";
  input: string;
  expected: string | boolean;
  i: number;
}

const configured =
  "2.2.1 is asked of the token where it is configured, pipelines/options.ts; files are read for whatever it is";
const withoutScheme = "a URL without scheme is a path to us: those that we ask about are absolute";

conformance({
  name: "robots.txt: Google's parser tests",
  files: ["robots-google-parse.json", "robots-google-helpers.json"],
  cases: 23,
  justified: {
    'pathParamsQuery "example.com/a/"': withoutScheme,
    'pathParamsQuery "example.com?a"': withoutScheme,
    'pathParamsQuery "a"': withoutScheme,
    'pathParamsQuery "example.com/"': withoutScheme,
    'isValidProductToken "Foobot*"': configured,
    'isValidProductToken "Foobot/2.1"': configured,
    'isValidProductToken "Foobot Bar"': configured,
  },
  judge(data, check) {
    for (const one of data.json<ParseCase[]>("robots-google-parse.json")) check(`${one.name} (${one.i})`, ...parsed(one));
    for (const one of data.json<HelperCase[]>("robots-google-helpers.json"))
      check(`${one.fn} ${JSON.stringify(one.input)}`, helped(one), true);
  },
});

function parsed(one: ParseCase): [got: unknown, wanted: unknown] {
  const body = one.robotsB64 === undefined ? Buffer.from(one.robots) : Buffer.from(one.robotsB64, "base64");
  if (one.sitemap !== undefined) return [parseRobots(body, "foo").sitemaps, [one.sitemap]];
  const rules = [...parseRobots(body, "foo").rules, ...parseRobots(body, "bar").rules];
  if (one.lastLine !== undefined) return [Math.max(0, ...rules.map(({ line }) => line)), one.lastLine];
  // The agent line is the other directive; where a broken byte order mark voids it, its rule is nobody's too.
  return [rules.length, one.validDirectives! - 1];
}

function helped({ fn, input, expected }: HelperCase): boolean {
  const rules = (...lines: string[]) => parseRobots(Buffer.from(["User-agent: *", ...lines].join("\n")), "foo");
  if (fn === "pathParamsQuery") return robotsVerdict(rules("Disallow: /", `Allow: ${expected}$`), input).allowed;
  if (fn === "escapePattern") return !robotsVerdict(rules(`Disallow: /${input}`), `http://h.example/${expected}`).allowed;
  return parseRobots(Buffer.from(`User-agent: ${input}\nDisallow: /`), input).rules.length === (expected ? 1 : 0);
}
