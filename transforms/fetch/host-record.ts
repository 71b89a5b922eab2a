// The durable start and end of a request: compare-and-set rounds on the host record around the pure decisions of core/politeness.
import { type Admission, type AdmitRequest, admit } from "../../core/politeness/admit.ts";
import { newHost } from "../../core/politeness/host-clock.ts";
import { type PacePolicy, pacePolicy } from "../../core/politeness/policy.ts";
import { connectFailed, type RequestEnd, release } from "../../core/politeness/release.ts";
import { withheldBy } from "../../core/traps/url-policy.ts";
import { StoreError, type Versioned } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import { rowKey } from "../../schemas/row-key.ts";
import { patiently } from "../patience.ts";
import { judgeView, type RobotsView } from "../robots-reader.ts";
import type { CrawlServices } from "../services.ts";

export interface HostDesk {
  paceKey: string;
  policy: PacePolicy;
  /** The number of the job: what a new record begins with. */
  epoch: number;
  /** Times are written as now + this, and compared as now − this. */
  skewMs: number;
}

export function hostDesk(config: CrawlConfig, paceKey: string, viaAllowed: boolean): HostDesk {
  return { paceKey, policy: pacePolicy(config, paceKey, { viaAllowed }), epoch: config.epoch, skewMs: config.clockSkewMs };
}

type Request = Omit<AdmitRequest, "robots"> & { url: string };

/** What has just been read of a host: the first round judges by it, and the conditional write notices if the record has moved on. */
export interface HostSight {
  host: Versioned<HostState> | undefined;
  robots: RobotsView | undefined;
}

export type Booking =
  | Exclude<Admission, { kind: "admitted" }>
  /** `row`: the host's record as it was written; undefined where it is a new one. */
  | (Extract<Admission, { kind: "admitted" }> & { row: Versioned<HostState> | undefined });

/** Books the request in the host's record, or says why not. All rounds but one that has a sight read host and robots rules anew. */
export function admitDurably(services: CrawlServices, desk: HostDesk, request: Request, sight?: HostSight): Promise<Booking> {
  return services.hostTurns.next(desk.paceKey, () => admitRounds(services, desk, request, sight));
}

async function admitRounds(services: CrawlServices, desk: HostDesk, request: Request, sight?: HostSight): Promise<Booking> {
  const write = hostWriter(services, rowKey(desk.paceKey));
  for (let round = 0; round < limits.casTries; round++) {
    const seen = (round === 0 && hasOneAtATime(desk) ? sight : undefined) ?? (await lookAt(services, desk, request));
    const admission = admitNow(services, desk, request, { host: seen.host?.value, robots: seen.robots });
    if (admission.kind !== "admitted") return admission;
    const written = await write(seen.host, admission.host);
    if (written.done) return { ...admission, row: written.row };
  }
  return { kind: "refused", reason: "contention" };
}

async function lookAt(
  { robots, tables }: CrawlServices,
  { paceKey }: HostDesk,
  { lease, hostKey }: Request,
): Promise<HostSight> {
  const [[host], views] = await Promise.all([
    tables.hosts.get([rowKey(paceKey)]),
    lease.kind === "robots" ? [] : robots.read(paceKey, [hostKey]),
  ]);
  return { host, robots: views[0] };
}

/** Where several requests to a host run side by side, what was read before has mostly moved on: a first try with it would be lost. */
function hasOneAtATime({ policy }: HostDesk): boolean {
  return policy.concurrency === 1;
}

/** The same judgement on records that were read already, without writing. */
export function admitNow(
  { clock, live }: CrawlServices,
  { policy, epoch, skewMs }: HostDesk,
  request: Request,
  records: { host: HostState | undefined; robots: RobotsView | undefined },
): Admission {
  const now = clock.now();
  const robots = request.lease.kind === "robots" ? undefined : judgeView(records.robots, request.url, now);
  const withheld = withheldBy(live.now(), request.hostKey, request.url);
  return admit(records.host ?? newHost(epoch), { ...request, robots, withheld }, policy, now, skewMs);
}

/** What a release ends: the token of its admission, and the host's record as that was written, where it is known. */
export interface Booked {
  token: string;
  row?: Versioned<HostState> | undefined;
}

/** Ends the request of `token`. Returns the record as it then stands. */
export function releaseDurably(
  services: CrawlServices,
  desk: HostDesk,
  { token, row }: Booked,
  end: RequestEnd,
): Promise<HostState> {
  const spread = services.random.next();
  const released = (host: HostState): HostState => release(host, desk.policy, token, late(end, desk.skewMs), spread);
  // A store that refuses once must not lose a Retry-After.
  return patiently(services, () => changeHost(services, desk, released, row));
}

/** Notes that a connection could not be made: the host rests, though nothing was admitted. */
export function noteConnectFailure(services: CrawlServices, desk: HostDesk, reason: FailureReason): Promise<HostState> {
  const spread = services.random.next();
  const endedAt = services.clock.now() + desk.skewMs;
  return changeHost(services, desk, (host) => connectFailed(host, reason, endedAt, spread));
}

/** The end as the slowest clock would have told it. */
function late(end: RequestEnd, skewMs: number): RequestEnd {
  if (end.kind === "unsent" || skewMs === 0) return end;
  const times = { sentAt: end.sentAt + skewMs, endedAt: end.endedAt + skewMs };
  return end.kind === "failed" ? { ...end, ...times } : { ...end, ...times, answeredAt: end.answeredAt + skewMs };
}

export function changeHost(
  services: CrawlServices,
  desk: HostDesk,
  change: (host: HostState) => HostState,
  seen?: Versioned<HostState>,
): Promise<HostState> {
  return services.hostTurns.next(desk.paceKey, () => changeRounds(services, desk, change, seen));
}

async function changeRounds(
  services: CrawlServices,
  desk: HostDesk,
  change: (host: HostState) => HostState,
  seen?: Versioned<HostState>,
): Promise<HostState> {
  const key = rowKey(desk.paceKey);
  const write = hostWriter(services, key);
  for (let known = hasOneAtATime(desk) ? seen : undefined; ; known = undefined) {
    const row = known ?? (await services.tables.hosts.get([key]))[0];
    const before = row?.value ?? newHost(desk.epoch);
    const after = change(before);
    // A release must not be given up: someone else's write is a reason to read again, however often.
    if (after === before || (await write(row, after)).done) return after;
  }
}

/** Times that a conditional write may lose its answer in one round of rounds; a store that fails oftener is away. */
const ANSWERS_LOST_MAX = 3;

interface Written {
  done: boolean;
  /** As it now stands; undefined for a new one, whose rev is not told. */
  row?: Versioned<HostState>;
}

/**
 * A conditional write on the host's record. Not done where the record has moved on, and also where the store lost the answer: whoever
 * reads again finds by its token what it wrote, or that it was not written. Rejects when that happens too often.
 */
function hostWriter({ tables }: CrawlServices, key: string) {
  let lost = 0;
  return async (row: Versioned<HostState> | undefined, value: HostState): Promise<Written> => {
    try {
      if (row === undefined) {
        const [inserted] = await tables.hosts.insertIfAbsent([{ key, value }]);
        return { done: inserted === true };
      }
      const rev = await tables.hosts.compareAndSet(key, value, row.rev);
      return rev === undefined ? { done: false } : { done: true, row: { rev, value } };
    } catch (error) {
      if (error instanceof StoreError && !error.final && ++lost <= ANSWERS_LOST_MAX) return { done: false };
      throw error;
    }
  };
}
