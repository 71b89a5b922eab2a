// Was a host asked before the time for which it had said: later? Retry-After of RFC 9110 10.2.3, both forms.
import type { WireEntry } from "../wire.ts";
import { allowances } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { crashes } from "./crashes.ts";
import { kept } from "./kept.ts";

/** A longer wait is cut to this. */
const LONGEST_MS = 30 * 86_400_000;

/**
 * Where more than one request may be open, another may have been admitted when the answer was not yet heard: it leaves within this
 * time of its admission, by a clock that may lag by the stated error. With one at a time there is no such other, and no tolerance.
 */
const SEND_WITHIN_MS = 250;

interface Hold {
  until: number;
  by: WireEntry;
}

interface HostLog {
  /** Not answered yet, as far as was looked. */
  open: WireEntry[];
  holds: Hold[];
}

const HOLDS_KEPT = 32; // of one host: the longest ones
const OPEN_KEPT = 64;

/** Counts on every answer from 300 on. Not where the worker that heard it died before it could write it down. */
export function retryAfter({ config, now, storeMsMax = 0 }: SimFacts): Checker {
  const violations = new Violations();
  const allowanceOf = allowances(config);
  const lost = crashes(storeMsMax);
  const hosts = new Map<string, HostLog>();

  const toleranceMs = (host: string): number =>
    allowanceOf(host).concurrency === 1 ? 0 : SEND_WITHIN_MS + config.clockSkewMs + storeMsMax;

  return {
    name: "retry-after",
    violations,
    crashed: (worker) => lost.crashed(worker, now()),
    arrived(entry) {
      const host = kept(hosts, entry.host, newLog);
      if (host.open.length > 0) takeUp(host, entry.at);
      if (host.holds.length > 0) {
        host.holds = host.holds.filter((hold) => hold.until > entry.at);
        const from = entry.at - toleranceMs(entry.host);
        const broken = host.holds.find(({ by }) => by.answeredAt! < from && !lost.forgotten(by));
        if (broken !== undefined) violations.add(words(entry, broken));
      }
      host.open.push(entry);
      if (host.open.length > OPEN_KEPT) host.open.shift();
    },
  };
}

function newLog(): HostLog {
  return { open: [], holds: [] };
}

function takeUp(host: HostLog, now: number): void {
  const open: WireEntry[] = [];
  for (const entry of host.open) {
    const { answeredAt, endedAt, status, retryAfter: value } = entry;
    if (answeredAt === undefined || answeredAt > now) {
      if (endedAt === undefined || endedAt > now) open.push(entry);
      continue;
    }
    if (status < 300 || value === undefined) continue;
    const until = restUntil(value, answeredAt);
    if (until !== undefined && until > now) host.holds.push({ until, by: entry });
  }
  host.open = open;
  if (host.holds.length > HOLDS_KEPT) {
    host.holds = host.holds.sort((one, other) => other.until - one.until).slice(0, HOLDS_KEPT);
  }
}

function words(entry: WireEntry, { until, by }: Hold): string {
  const { status, retryAfter: value, answeredAt } = by;
  return `${entry.host}${entry.path} at ${entry.at}, ${until - entry.at} ms early: ${status} at ${answeredAt} said Retry-After ${value}`;
}

/** Unix ms until which the host is to be left alone, after an answer at `answeredAt`; undefined where the value asks for nothing. */
export function restUntil(value: string, answeredAt: number): number | undefined {
  const text = value.trim();
  const until = /^[0-9]+$/.test(text) ? answeredAt + Number(text) * 1_000 : dateOf(text);
  if (until === undefined || !(until > answeredAt)) return undefined;
  return Math.min(until, answeredAt + LONGEST_MS);
}

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** RFC 9110 5.6.7: the fixed form, RFC 850's and asctime's. */
function dateOf(text: string): number | undefined {
  const usual = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/.exec(text);
  if (usual) return instant(usual[3]!, usual[2]!, usual[1]!, usual.slice(4));
  const old = /^\w{6,9}, (\d{2})-(\w{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/.exec(text);
  if (old) return instant(`20${old[3]}`, old[2]!, old[1]!, old.slice(4)); // the simulated years are of this century
  const asctime = /^\w{3} (\w{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/.exec(text);
  return asctime ? instant(asctime[6]!, asctime[1]!, asctime[2]!, asctime.slice(3, 6)) : undefined;
}

function instant(year: string, month: string, day: string, time: readonly string[]): number | undefined {
  const place = MONTHS.indexOf(month);
  if (place < 0 || place % 3 !== 0) return undefined;
  const [hour, minute, second] = time.map(Number);
  return Date.UTC(Number(year), place / 3, Number(day), hour, minute, second);
}
