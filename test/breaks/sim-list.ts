// What must the simulator find by itself? Each break takes a promise of the design away; `fault` is the storm in which it shows.
import type { FaultName } from "../sim/plan.ts";
import type { Break } from "./apply.ts";

export type SimBreak = Omit<Break, "test" | "only"> & {
  /** Only this fault, strong; absent: the seeds' own. */
  fault?: FaultName | "none";
};

/** Seeds tried before a break counts as not found. */
export const SEEDS_MAX = 6;

export const simBreaks: readonly SimBreak[] = [
  {
    name: "no admit: whoever holds a lease asks",
    file: "core/politeness/admit.ts",
    find: "    refusedByClock(host, policy, now, skewMs) ??\n",
    replace: "",
    fault: "zombie",
  },
  {
    name: "the token taken from the lease",
    file: "transforms/fetch/run-lease.ts",
    find: "token: random.token()",
    replace: "token: lease.leaseId",
    fault: "bundles-twice",
  },
  {
    name: "the clock in Beam state only: the record is not written",
    file: "transforms/fetch/host-record.ts",
    find: "if (row !== undefined) return (await tables.hosts.compareAndSet(key, value, row.rev)) !== undefined;",
    replace: "if (row !== undefined) return true;",
    fault: "none",
  },
  {
    name: "robots judged at the grant only",
    file: "core/politeness/admit.ts",
    find: "    refusedByRobots(host, request) ??\n",
    replace: "",
    fault: "zombie",
  },
  {
    name: "an entry voided when its time to send is over",
    file: "core/politeness/host-clock.ts",
    find: "flight.expiresAt <= now - skewMs",
    replace: "flight.sendBy <= now - skewMs",
    fault: "forgetful-engine",
  },
  {
    name: "completion without a version",
    file: "core/frontier/complete.ts",
    find: "  if (record.version === lease.version) return undefined;\n",
    replace: "  if (record.version >= lease.version) return undefined;\n",
    fault: "zombie",
  },
  {
    name: "a due entry only for URLs that are new",
    file: "transforms/discover.ts",
    find: "      else if (record.version === 0) due.push({ candidate, record });\n",
    replace: "",
    fault: "store-refuses",
  },
  {
    name: "robots.txt that answers 5xx allows",
    file: "core/robots/judge.ts",
    find: 'return { verdict: "unreachable", until, ...(state.reason !== undefined && { reason: state.reason }) };',
    replace: 'return { verdict: "allow" };',
    fault: "none",
  },
  {
    name: "a ready queue without bound",
    file: "core/frontier/refill.ts",
    find: "const limit = Math.max(1, limits.readyUrls - state.ready.length) + 1;",
    replace: "const limit = 100_000;",
    fault: "none",
  },
  {
    name: "the gap counted from sending",
    file: "core/politeness/host-clock.ts",
    find: "host.lastAnsweredAt + gap",
    replace: "host.lastSendAt + gap",
    fault: "none",
  },
  {
    name: "Crawl-delay ignored",
    file: "core/politeness/host-clock.ts",
    find: "Math.max(policy.delayMs, host.crawlDelayMs ?? 0)",
    replace: "policy.delayMs",
    fault: "none",
  },
  {
    name: "Retry-After ignored",
    file: "core/politeness/release.ts",
    find: "retryAfterMs === undefined || status < 300 ? {} : { retryAfterMs }",
    replace: "{}",
    fault: "none",
  },
  {
    name: "concurrency unbounded",
    file: "core/politeness/admit.ts",
    find: "host.inFlight.length >= policy.concurrency",
    replace: "false",
    fault: "zombie",
  },
  {
    name: "clock skew not allowed for",
    file: "core/politeness/admit.ts",
    find: "return from > now - skewMs ?",
    replace: "return from > now + skewMs ?",
    fault: "clock-skew",
  },
  {
    name: "the document's version raised by two",
    file: "core/frontier/complete.ts",
    find: '{ docVersion: before.docVersion + 1, indexed: index === "upsert" }',
    replace: '{ docVersion: before.docVersion + 2, indexed: index === "upsert" }',
    fault: "none",
  },
  {
    name: "a completion that puts no new due entry",
    file: "transforms/fetch/complete.ts",
    find: "    await putDue(services, [entry]);\n",
    replace: "",
    fault: "none",
  },
  {
    name: "links published after the completion is written, and only if nothing fails",
    file: "transforms/fetch/take-body.ts",
    find: "  if (same || urls.length === 0) return;\n",
    replace: "  if (urls.length === 0 || url.length % 5 === 0) return;\n",
    fault: "none",
  },
  {
    name: "a lost report keeps its lease for ever",
    file: "core/frontier/turn.ts",
    find: "state.leases.filter((lease) => lease.expiresAt > now)",
    replace: "state.leases.filter(() => true)",
    fault: "reports-lost",
  },
  {
    name: "messages acknowledged before their URLs are durable",
    file: "transforms/read-queues.ts",
    find: "context.afterCommit(() => queue.acknowledge(messages.map(({ id }) => id)));",
    replace: "await queue.acknowledge(messages.map(({ id }) => id));",
    fault: "crash",
  },
  {
    name: "the address of an earlier look-up trusted: no guard at connect",
    file: "core/http/public-address.ts",
    find: "  return range === undefined ? { allowed: true } : { allowed: false, range };",
    replace: "  return { allowed: true };",
    fault: "none",
  },
];
