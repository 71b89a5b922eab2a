// What must the simulator find by itself? Each break takes a promise of the design away; `faults` is the storm in which it shows.
import type { Break } from "./apply.ts";

export type SimBreak = Omit<Break, "test" | "only"> & {
  /** As --fault takes them; absent: the seeds' own. */
  faults?: string;
};

/** Seeds tried before a break counts as not found. */
export const SEEDS_MAX = 6;

export const simBreaks: readonly SimBreak[] = [
  {
    name: "no admit: whoever holds a lease asks",
    file: "core/politeness/admit.ts",
    find: "    refusedByClock(host, policy, now, skewMs) ??\n",
    replace: "",
    faults: "zombie",
  },
  {
    name: "the token taken from the lease",
    file: "transforms/fetch/run-lease.ts",
    find: "token: random.token()",
    replace: "token: lease.leaseId",
    faults: "bundles-twice",
  },
  {
    name: "the clock in Beam state only: the record is not written",
    file: "transforms/fetch/host-record.ts",
    find: "const rev = await tables.hosts.compareAndSet(key, value, row.rev);",
    replace: "const rev: string | undefined = row.rev;",
    faults: "none",
  },
  {
    name: "robots judged at the grant only",
    file: "core/politeness/admit.ts",
    find: "    refusedByRobots(host, request) ??\n",
    replace: "",
    faults: "zombie",
  },
  {
    name: "an entry voided when its time to send is over",
    file: "core/politeness/admit.ts",
    find: "expiresAt: sendBy + policy.requestMs + limits.expireGraceMs,",
    replace: "expiresAt: sendBy,",
    faults: "zombie",
  },
  {
    name: "completion without a version",
    file: "core/frontier/complete.ts",
    find: "  if (record.version === lease.version) return undefined;\n",
    replace: "  if (record.version >= lease.version) return undefined;\n",
    faults: "zombie",
  },
  {
    name: "a due entry only for URLs that are new",
    file: "transforms/discover.ts",
    find: "        if (record.version === 0) due.push({ candidate, record });\n",
    replace: "",
    faults: "store-refuses",
  },
  {
    name: "robots.txt that answers 5xx allows",
    file: "core/robots/judge.ts",
    find: 'return { verdict: "unreachable", until, ...(state.reason !== undefined && { reason: state.reason }) };',
    replace: 'return { verdict: "allow" };',
    faults: "none",
  },
  {
    name: "a ready queue without bound",
    file: "core/frontier/refill.ts",
    find: "let room = limits.readyUrls - state.ready.length;",
    replace: "let room = Number.MAX_SAFE_INTEGER;",
    faults: "none",
  },
  {
    name: "the gap counted from sending",
    file: "core/politeness/host-clock.ts",
    find: "host.lastAnsweredAt + gap",
    replace: "host.lastSendAt + gap",
    faults: "none",
  },
  {
    name: "Crawl-delay ignored",
    file: "core/politeness/host-clock.ts",
    find: "Math.max(policy.delayMs, host.crawlDelayMs ?? 0)",
    replace: "policy.delayMs",
    faults: "none",
  },
  {
    name: "Retry-After ignored",
    file: "core/politeness/release.ts",
    find: "retryAfterMs === undefined || status < 300 ? {} : { retryAfterMs }",
    replace: "{}",
    faults: "none",
  },
  {
    name: "concurrency unbounded",
    file: "core/politeness/admit.ts",
    find: "host.inFlight.length >= policy.concurrency",
    replace: "false",
    faults: "zombie",
  },
  {
    name: "times written as if every clock were right",
    file: "transforms/fetch/host-record.ts",
    find: 'if (end.kind === "unsent" || skewMs === 0) return end;',
    replace: "if (skewMs >= 0) return end;",
    faults: "clock-skew,forgetful-engine",
  },
  {
    name: "the document's version raised by two",
    file: "core/frontier/complete.ts",
    find: '{ docVersion: before.docVersion + 1, indexed: index === "upsert" }',
    replace: '{ docVersion: before.docVersion + 2, indexed: index === "upsert" }',
    faults: "none",
  },
  {
    name: "a completion that puts no new due entry",
    file: "transforms/fetch/complete.ts",
    find: "    await putDue(services, [entry]);\n",
    replace: "",
    faults: "none",
  },
  {
    name: "index events forgotten",
    file: "transforms/fetch/complete.ts",
    find: "if (marks.index !== undefined) await events.publish",
    replace: 'if (marks.index !== undefined && urlId < "a") await events.publish',
    faults: "none",
  },
  {
    name: "a lost report keeps its lease for ever",
    file: "core/frontier/turn.ts",
    find: "state.leases.filter((lease) => lease.expiresAt > now)",
    replace: "state.leases.filter(() => true)",
    faults: "reports-lost",
  },
  {
    name: "the address of an earlier look-up trusted: no guard at connect",
    file: "core/http/public-address.ts",
    find: "  return range === undefined ? { allowed: true } : { allowed: false, range };",
    replace: "  return { allowed: true };",
    faults: "none",
  },
  {
    name: "messages acknowledged before their URLs are durable",
    file: "transforms/read-queues.ts",
    find: "context.afterCommit(() => queue.acknowledge(sound.map(({ id }) => id)));",
    replace: "await queue.acknowledge(sound.map(({ id }) => id));",
    faults: "crash,store-slow",
  },
  {
    name: "template counts not written",
    file: "transforms/discover.ts",
    find: "    await this.#templates.write();\n",
    replace: "",
    faults: "crash",
  },
  {
    name: "pages of a day not booked by admit",
    file: "core/politeness/day-budget.ts",
    find: "  return { ...today, pages: today.pages + pages };",
    replace: "  return { ...today, pages: today.pages + 0 * pages };",
    faults: "none",
  },
  {
    name: "an operator's orders read and not obeyed",
    file: "transforms/live-config.ts",
    find: "policies: [...hosts, ...base.policies]",
    replace: "policies: [...base.policies]",
    faults: "none",
  },
  {
    name: "the mark of a page to be parsed dropped",
    file: "core/frontier/complete.ts",
    find: "if (content?.reparse) return { reparse: true };",
    replace: "if (content?.reparse) return {};",
    faults: "parser-stalls",
  },
  {
    name: "pages that say nothing followed all the same",
    file: "transforms/fetch/take-body.ts",
    find: "  if (reason !== undefined) {\n",
    replace: '  if (reason !== undefined && urlId === "") {\n',
    faults: "none",
  },
  {
    name: "a page that was put off parsed without a look at its host's answers",
    file: "transforms/reparse.ts",
    find: "const reason = owesParse(before) ? judged(",
    replace: 'const reason = owesParse(before) && urlId === "" ? judged(',
    faults: "parser-stalls",
  },
];
