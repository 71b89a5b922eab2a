// The durable start and end of a request: compare-and-set rounds on the host record around the pure decisions of core/politeness.
import { type Admission, type AdmitRequest, admit } from "../../core/politeness/admit.ts";
import { newHost } from "../../core/politeness/host-clock.ts";
import { type PacePolicy, pacePolicy } from "../../core/politeness/policy.ts";
import { connectFailed, type RequestEnd, release } from "../../core/politeness/release.ts";
import { StoreError, type Versioned } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import { rowKey } from "../../schemas/row-key.ts";
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

/** Books the request in the host's record, or says why not. Robots rules are read anew in each round. */
export function admitDurably(
  services: CrawlServices,
  desk: HostDesk,
  request: Omit<AdmitRequest, "robots"> & { url: string },
): Promise<Admission> {
  return services.hostTurns.next(desk.paceKey, () => admitRounds(services, desk, request));
}

async function admitRounds(
  services: CrawlServices,
  desk: HostDesk,
  request: Omit<AdmitRequest, "robots"> & { url: string },
): Promise<Admission> {
  const key = rowKey(desk.paceKey);
  const write = hostWriter(services, key);
  for (let round = 0; round < limits.casTries; round++) {
    const [[row], views] = await Promise.all([
      services.tables.hosts.get([key]),
      services.robots.read(desk.paceKey, request.lease.kind === "robots" ? [] : [request.hostKey]),
    ]);
    const admission = admitNow(services, desk, request, { host: row?.value, robots: views[0] });
    if (admission.kind !== "admitted") return admission;
    if (await write(row, admission.host)) return admission;
  }
  return { kind: "refused", reason: "contention" };
}

/** The same judgement on records that were read already, without writing. */
export function admitNow(
  { clock }: CrawlServices,
  { policy, epoch, skewMs }: HostDesk,
  request: Omit<AdmitRequest, "robots"> & { url: string },
  records: { host: HostState | undefined; robots: RobotsView | undefined },
): Admission {
  const now = clock.now();
  const robots = request.lease.kind === "robots" ? undefined : judgeView(records.robots, request.url, now);
  return admit(records.host ?? newHost(epoch), { ...request, robots }, policy, now, skewMs);
}

/** Ends the request of `token`. Returns the record as it then stands. */
export function releaseDurably(services: CrawlServices, desk: HostDesk, token: string, end: RequestEnd): Promise<HostState> {
  const spread = services.random.next();
  return changeHost(services, desk, (host) => release(host, desk.policy, token, late(end, desk.skewMs), spread));
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
): Promise<HostState> {
  return services.hostTurns.next(desk.paceKey, () => changeRounds(services, desk, change));
}

async function changeRounds(
  services: CrawlServices,
  { paceKey, epoch }: HostDesk,
  change: (host: HostState) => HostState,
): Promise<HostState> {
  const key = rowKey(paceKey);
  const write = hostWriter(services, key);
  for (;;) {
    const [row] = await services.tables.hosts.get([key]);
    const before = row?.value ?? newHost(epoch);
    const after = change(before);
    // A release must not be given up: someone else's write is a reason to read again, however often.
    if (after === before || (await write(row, after))) return after;
  }
}

/** Times that a conditional write may lose its answer in one round of rounds; a store that fails oftener is away. */
const ANSWERS_LOST_MAX = 3;

/**
 * A conditional write on the host's record. False where the record has moved on, and also where the store lost the answer: whoever
 * reads again finds by its token what it wrote, or that it was not written. Rejects when that happens too often.
 */
function hostWriter({ tables }: CrawlServices, key: string) {
  let lost = 0;
  return async (row: Versioned<HostState> | undefined, value: HostState): Promise<boolean> => {
    try {
      if (row !== undefined) return (await tables.hosts.compareAndSet(key, value, row.rev)) !== undefined;
      const [inserted] = await tables.hosts.insertIfAbsent([{ key, value }]);
      return inserted === true;
    } catch (error) {
      if (error instanceof StoreError && !error.final && ++lost <= ANSWERS_LOST_MAX) return false;
      throw error;
    }
  };
}
