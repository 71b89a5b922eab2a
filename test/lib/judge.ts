// Was the crawler polite? Judged from the server's own log alone, with rules written anew here and shared with no crawler code.
import type { RequestLogEntry } from "./web-server.ts";

/** Smallest times in ms between one request of a host and the next; Infinity where there were fewer than two. */
export interface Gaps {
  /** From the first byte of an answer (the end of a request that got none) to the start of the next request. */
  answerToStart: number;
  /** From the end of an answer to the start of the next request. */
  endToStart: number;
  startToStart: number;
}

/** Negative where requests overlapped; a request that is still open counts as answered and ended never. */
export function smallestGapMs(log: readonly RequestLogEntry[], host: string): Gaps {
  const gaps: Gaps = { answerToStart: Infinity, endToStart: Infinity, startToStart: Infinity };
  const entries = of(log, host);
  for (let index = 1; index < entries.length; index++) {
    const former = entries[index - 1]!;
    const start = entries[index]!.startedAt;
    gaps.answerToStart = Math.min(gaps.answerToStart, start - (former.answeredAt ?? former.endedAt ?? Infinity));
    gaps.endToStart = Math.min(gaps.endToStart, start - (former.endedAt ?? Infinity));
    gaps.startToStart = Math.min(gaps.startToStart, start - former.startedAt);
  }
  return gaps;
}

/** The most requests of the host that were open at one time, counted from the times alone. */
export function concurrencyMax(log: readonly RequestLogEntry[], host: string): number {
  const entries = of(log, host);
  const openAt = (time: number) =>
    entries.filter((entry) => entry.startedAt <= time && (entry.endedAt ?? Infinity) > time).length;
  return entries.reduce((most, entry) => Math.max(most, openAt(entry.startedAt)), 0);
}

/** Requests that came before robots.txt of their host had been answered; robots.txt itself is never among them. */
export function beforeRobots(log: readonly RequestLogEntry[], host: string): RequestLogEntry[] {
  const answers = of(log, host)
    .filter((entry) => entry.path === "/robots.txt")
    .map((entry) => entry.answeredAt ?? Infinity);
  const first = Math.min(Infinity, ...answers);
  return of(log, host).filter((entry) => entry.path !== "/robots.txt" && entry.startedAt < first);
}

/** Requests that `robotsText` forbids to `productToken`. Rules are plain prefixes; one with a wildcard is refused with an error. */
export function disallowedRequests(
  log: readonly RequestLogEntry[],
  host: string,
  robotsText: string,
  productToken = "gleaner",
): RequestLogEntry[] {
  const rules = rulesFor(robotsText, productToken.toLowerCase());
  return of(log, host).filter((entry) => entry.path !== "/robots.txt" && !allowed(rules, entry.path));
}

export interface Repeat {
  host: string;
  method: string;
  path: string;
  times: number;
}

/** What was answered with 2xx or 304 more than once; robots.txt, which may be asked for again, aside. */
export function repeated(log: readonly RequestLogEntry[]): Repeat[] {
  const seen = new Map<string, Repeat>();
  for (const { host, method, path, status } of log) {
    if (path === "/robots.txt" || !((status >= 200 && status < 300) || status === 304)) continue;
    const key = `${method} ${host} ${path}`;
    const repeat = seen.get(key) ?? { host, method, path, times: 0 };
    repeat.times += 1;
    seen.set(key, repeat);
  }
  return [...seen.values()].filter((repeat) => repeat.times > 1);
}

/** Requests that came before the time that a Retry-After (in seconds) of the same host had asked for. */
export function beforeRetryAfter(log: readonly RequestLogEntry[], host: string): RequestLogEntry[] {
  const entries = of(log, host);
  const holds = entries.flatMap((entry) =>
    entry.retryAfter !== undefined && entry.answeredAt !== undefined
      ? [{ from: entry.answeredAt, until: entry.answeredAt + 1000 * Number(entry.retryAfter) }]
      : [],
  );
  return entries.filter((entry) => holds.some((hold) => entry.startedAt > hold.from && entry.startedAt < hold.until));
}

function of(log: readonly RequestLogEntry[], host: string): RequestLogEntry[] {
  return log.filter((entry) => entry.host === host).sort((a, b) => a.startedAt - b.startedAt);
}

interface Rule {
  allow: boolean;
  prefix: string;
}

/** The rules of the groups that name the agent, or of those for `*` where none does. */
function rulesFor(robotsText: string, agent: string): Rule[] {
  const groups: { agents: string[]; rules: Rule[] }[] = [];
  let naming = false;
  for (const line of robotsText.split(/\r?\n/)) {
    const [, name = "", value = ""] = /^\s*([a-z-]+)\s*:\s*([^#\s]*)/i.exec(line) ?? [];
    const field = name.toLowerCase();
    if (field === "user-agent") {
      if (!naming) groups.push({ agents: [], rules: [] });
      groups.at(-1)?.agents.push(value.toLowerCase());
      naming = true;
    } else if (field === "allow" || field === "disallow") {
      if (/[*$]/.test(value)) throw new Error(`the judge reads plain prefixes only, not ${value}`);
      if (value !== "") groups.at(-1)?.rules.push({ allow: field === "allow", prefix: value });
      naming = false;
    }
  }
  const named = groups.filter((group) => group.agents.includes(agent));
  return (named.length > 0 ? named : groups.filter((group) => group.agents.includes("*"))).flatMap((group) => group.rules);
}

/** The longest matching rule decides, and allows where two are of one length. */
function allowed(rules: readonly Rule[], path: string): boolean {
  const matching = rules.filter((rule) => path.startsWith(rule.prefix));
  const longest = Math.max(0, ...matching.map((rule) => rule.prefix.length));
  return matching.length === 0 || matching.some((rule) => rule.allow && rule.prefix.length === longest);
}
