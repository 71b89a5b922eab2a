// How long did a host with URLs that were never fetched wait for its next request, once it was free? Told turn by turn, from the wire.
//
// A host serves one request an allowance, so a URL behind a thousand others says nothing; that the host is asked whenever it may be does.
// A turn begins when there is such a URL and the host may be asked: its clock, Crawl-delay, Retry-After and the longest back-off are
// over (15 s doubling with each failure in a row, a quarter of jitter), its robots.txt is unknown, expired, or allows. It ends with the
// host's next request. A host that is down, moved to a private address, whose robots.txt fails or leads elsewhere and is not yet taken
// over, or whose pages are spent, has no turn. Nor has one that is ordered about, or has a budget of the day: the checkers of those tell.
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import type { WireEntry } from "../wire.ts";
import type { SimHost } from "../world.ts";
import { allowances } from "./allowance.ts";
import type { SimFacts } from "./checker.ts";
import { crawlDelays } from "./crawl-delays.ts";
import { kept } from "./kept.ts";
import { restUntil } from "./retry-after.ts";
import { isRobots } from "./robots-ledger.ts";

interface Line {
  /** URLs with a record and without a first completion. */
  waiting: number;
  waitingSince: number;
  open: WireEntry[];
  freeAt: number;
  failures: number;
  pages: number;
  robots: WireEntry | undefined;
  /** A page was asked for since the last answer to robots.txt. */
  robotsTaken: boolean;
}

export interface HostTurns {
  /** Must see every request, in order. Gives the length of the turn that it ends, in ms, where it ends one. */
  arrived(entry: WireEntry): number | undefined;
  recorded(host: string, at: number): void;
  completedFirst(host: string): void;
  /** How long each turn that is open at `at` has lasted. */
  openTurns(at: number): { host: string; ms: number }[];
}

const BACKOFF_MS = 15_000;
const JITTER = 1.25;
const DAY_MS = 86_400_000;

export function hostTurns({ config, orders = [], world }: SimFacts): HostTurns {
  const allowanceOf = allowances(config);
  const delays = crawlDelays(config);
  const bounded = boundedHosts([config.policies, ...orders.map(({ policies }) => policies.hosts)].flat());
  const lines = new Map<string, Line>();
  const lineOf = (host: string): Line => kept(lines, host, newLine);

  function turnMs(host: string, line: Line, at: number): number | undefined {
    if (line.waiting === 0 || bounded.has(host) || line.pages >= allowanceOf(host).pagesMax) return undefined;
    const begin = Math.max(line.waitingSince, line.freeAt);
    if (!mayBeAsked(world.byName.get(host), begin, at) || !robotsAllow(line)) return undefined;
    return Math.max(0, at - begin);
  }

  return {
    arrived(entry) {
      const line = lineOf(entry.host);
      const { delayMs } = allowanceOf(entry.host);
      const owedMs = Math.max(delayMs, delays.owedMs(entry));
      takeUp(line, entry.at, owedMs);
      const turn = line.open.length > 0 ? undefined : turnMs(entry.host, line, entry.at);
      line.open.push(entry);
      line.freeAt = Math.max(line.freeAt, entry.at + owedMs);
      if (isRobots(entry)) {
        line.robots = entry;
        line.robotsTaken = false;
      } else {
        line.pages++;
        line.robotsTaken = true;
      }
      return turn;
    },
    recorded(host, at) {
      const line = lineOf(host);
      if (line.waiting === 0) line.waitingSince = at;
      line.waiting++;
    },
    completedFirst(host) {
      const line = lineOf(host);
      line.waiting = Math.max(0, line.waiting - 1);
    },
    openTurns(at) {
      const turns: { host: string; ms: number }[] = [];
      for (const [host, line] of lines) {
        takeUp(line, at, allowanceOf(host).delayMs);
        const ms = line.open.length > 0 ? undefined : turnMs(host, line, at);
        if (ms !== undefined) turns.push({ host, ms });
      }
      return turns;
    },
  };
}

function boundedHosts(policies: readonly HostPolicy[]): Set<string> {
  const bounded = policies.filter(
    ({ paused, excluded, limits, agreed, delayMs }) =>
      paused || excluded || limits?.pagesPerDay || limits?.bytesPerDay || (agreed === false && delayMs),
  );
  return new Set(bounded.map(({ host }) => host));
}

function newLine(): Line {
  return {
    waiting: 0,
    waitingSince: 0,
    open: [],
    freeAt: 0,
    failures: 0,
    pages: 0,
    robots: undefined,
    robotsTaken: false,
  };
}

function takeUp(line: Line, now: number, owedMs: number): void {
  if (line.open.length === 0) return;
  line.open = line.open.filter((entry) => {
    const { status, retryAfter, answeredAt, endedAt } = entry;
    if (endedAt === undefined || endedAt > now) return true;
    const at = answeredAt ?? endedAt;
    const failed = answeredAt === undefined || status === 429 || status >= 500;
    const ours = failed ? Math.min(DAY_MS, BACKOFF_MS * 2 ** line.failures) * JITTER : 0;
    const asked = retryAfter === undefined || status < 300 ? undefined : restUntil(retryAfter, at);
    line.failures = failed ? line.failures + 1 : 0;
    line.freeAt = Math.max(line.freeAt, at + owedMs, at + ours, asked ?? 0);
    return false;
  });
}

/** A host that was down when the turn would have begun has failed connections behind it, which the wire does not show. */
function mayBeAsked(host: SimHost | undefined, begin: number, at: number): boolean {
  if (host === undefined || host.downUntil > begin) return false;
  return host.privateFrom === undefined || host.privateFrom > at;
}

function robotsAllow({ robots, robotsTaken }: Line): boolean {
  if (robots === undefined || robotsTaken) return true;
  const { status, answeredAt } = robots;
  if (answeredAt === undefined || status === 429 || status >= 500) return false;
  return status < 300 || status >= 400;
}
