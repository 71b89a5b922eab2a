// Which rules of a robots.txt are ours? RFC 9309 2.1 and 2.2: lines, groups, product tokens.
import { limits } from "../../schemas/limits.ts";
import { escapeBytes } from "./octets.ts";

export interface RobotsRule {
  allow: boolean;
  /** As in the file, octets beyond ASCII as %XX, so that no encoding is guessed and no byte lost. */
  pattern: string;
  /** From 1. */
  line: number;
}

export interface RobotsRules {
  /** Of all groups that name our product token, or else of all `*` groups; in the order of the file. */
  rules: readonly RobotsRule[];
  /**
   * The largest Crawl-delay that our group states, at most limits.crawlDelayMsMax. Absent where it states none: that of `*` does not
   * pass to a named group. The largest, because of two wishes the longer one offends nobody.
   */
  crawlDelayMs?: number;
  /** Values of Sitemap lines as they stand, from anywhere in the file; relative ones are resolved against the URL of the file. */
  sitemaps: readonly string[];
}

/**
 * The rules for `productToken` (letter case is ignored). Never throws: whatever is not a line of 2.2 is passed over. Bytes beyond
 * limits.robotsBytes are not read, and of a line that they cut nothing is (half a path would be another rule).
 */
export function parseRobots(body: Uint8Array, productToken: string): RobotsRules {
  const token = Buffer.from(productToken).toString("latin1").toLowerCase();
  const groups = { named: emptyGroup(), any: emptyGroup() };
  const sitemaps: string[] = [];
  const reader: Reader = { token, groups, sitemaps, ruleAgents: noAgents(), delayAgents: noAgents() };
  let line = 0;
  for (const text of linesOf(body)) {
    line++;
    const field = fieldOf(text);
    if (field !== undefined) readers.get(misspelt.get(field.name) ?? field.name)?.(reader, field.value, line);
  }
  const { rules, crawlDelayMs } = groups.named.present ? groups.named : groups.any;
  return { rules, sitemaps, ...(crawlDelayMs !== undefined && { crawlDelayMs }) };
}

interface Group {
  present: boolean;
  rules: RobotsRule[];
  crawlDelayMs: number | undefined;
}

/** Which of the two groups that concern us the last agent lines named; `ended`: the next agent line begins anew. */
interface Agents {
  named: boolean;
  any: boolean;
  ended: boolean;
}

interface Reader {
  token: string;
  groups: { named: Group; any: Group };
  sitemaps: string[];
  ruleAgents: Agents;
  /**
   * Records outside the standard must not end a group (2.2.4), so `a, Crawl-delay, b, Disallow` is one group for the rule. For the
   * delay itself the owner plainly means `a` alone, so delays keep an account of their own.
   */
  delayAgents: Agents;
}

const readers = new Map<string, (reader: Reader, value: string, line: number) => void>([
  ["user-agent", addAgent],
  ["allow", (reader, value, line) => addRule(reader, { allow: true, pattern: value, line })],
  ["disallow", (reader, value, line) => addRule(reader, { allow: false, pattern: value, line })],
  ["crawl-delay", addDelay],
  ["sitemap", addSitemap],
]);

/** Spellings that the large parsers forgive, so that files in the field rely on them; beyond the standard. */
const misspelt = new Map([
  ["useragent", "user-agent"],
  ["user agent", "user-agent"],
  ["dissallow", "disallow"],
  ["dissalow", "disallow"],
  ["disalow", "disallow"],
  ["diasllow", "disallow"],
  ["disallaw", "disallow"],
]);

function addAgent(reader: Reader, value: string): void {
  const named = isOurs(value, reader.token);
  const any = /^\*(?:[ \t]|$)/.test(value);
  reader.groups.named.present ||= named;
  reader.ruleAgents = withAgent(reader.ruleAgents, named, any);
  reader.delayAgents = withAgent(reader.delayAgents, named, any);
}

function addRule(reader: Reader, rule: RobotsRule): void {
  reader.ruleAgents.ended = true;
  reader.delayAgents.ended = true;
  if (rule.pattern === "") return; // an empty pattern matches nothing, and cancels nothing
  const escaped = { ...rule, pattern: escapeBytes(rule.pattern) };
  for (const group of groupsOf(reader, reader.ruleAgents)) group.rules.push(escaped);
}

function addDelay(reader: Reader, value: string): void {
  reader.delayAgents.ended = true;
  const delayMs = delayOf(value);
  if (delayMs === undefined) return;
  for (const group of groupsOf(reader, reader.delayAgents)) group.crawlDelayMs = Math.max(group.crawlDelayMs ?? 0, delayMs);
}

function addSitemap(reader: Reader, value: string): void {
  if (value !== "") reader.sitemaps.push(Buffer.from(value, "latin1").toString("utf8"));
}

/** None before the first agent line: rules there belong to nobody. */
function groupsOf(reader: Reader, agents: Agents): Group[] {
  return [...(agents.named ? [reader.groups.named] : []), ...(agents.any ? [reader.groups.any] : [])];
}

function withAgent(agents: Agents, named: boolean, any: boolean): Agents {
  return agents.ended ? { named, any, ended: false } : { named: agents.named || named, any: agents.any || any, ended: false };
}

/**
 * The whole value, or the product token that it begins with: files write `OurBot/1.0` and `OurBot (comment)` where the token belongs. A
 * token further behind, as in `Mozilla/5.0 (compatible; OurBot/1.0)`, is nobody's: so RFC 9309 2.2.1 and all the large parsers.
 */
function isOurs(value: string, token: string): boolean {
  const lower = value.toLowerCase();
  return token !== "" && token !== "*" && (lower === token || /^[a-z_-]*/.exec(lower)![0] === token);
}

/** Two runs of digits that could share their digits would be tried in every way: quadratic, a minute for a line of 500 KiB. */
function delayOf(value: string): number | undefined {
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) return undefined;
  return Math.min(Math.ceil(Number(value) * 1000), limits.crawlDelayMsMax);
}

/** A line without comment as name and value; with the colon forgotten, two words will do, as the large parsers have it. */
function fieldOf(line: string): { name: string; value: string } | undefined {
  const text = trimmed(line.split("#", 1)[0]!);
  const colon = text.indexOf(":");
  if (colon < 0) {
    const words = text.split(/[ \t]+/, 3);
    return words.length === 2 ? { name: words[0]!.toLowerCase(), value: words[1]! } : undefined;
  }
  return { name: trimmed(text.slice(0, colon)).toLowerCase(), value: trimmed(text.slice(colon + 1)) };
}

/** NUL and the other ASCII blanks stand for white space at either end. No regular expression: `\s+$` is quadratic. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0 || (code >= 0x09 && code <= 0x0d);
}

/** Lines end in CR, LF or both (2.2's NL). One character a byte. */
function* linesOf(body: Uint8Array): Generator<string> {
  const start = markLength(body);
  const read = body.subarray(start, limits.robotsBytes);
  const text = Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString("latin1");
  const cut = body.length >= limits.robotsBytes;
  const ends = /\r\n|\n|\r/g;
  let at = 0;
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    yield text.slice(at, end.index);
    at = ends.lastIndex;
  }
  if (!cut) yield text.slice(at);
}

/** A byte order mark, whole or cut short, is no part of the first line. */
function markLength(body: Uint8Array): number {
  let length = 0;
  for (const byte of [0xef, 0xbb, 0xbf]) if (body[length] === byte) length++;
  return length;
}

function emptyGroup(): Group {
  return { present: false, rules: [], crawlDelayMs: undefined };
}

function noAgents(): Agents {
  return { named: false, any: false, ended: false };
}
