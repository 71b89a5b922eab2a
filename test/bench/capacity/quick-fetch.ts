// What stands in for Fetch where only grants are measured? A DoFn that answers each lease at its time, writes its end and reports.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import type { RawTables } from "../../../pipelines/worker.ts";
import { encode } from "../../../schemas/codec.ts";
import { type FetchLease, fetchLease } from "../../../schemas/lease.ts";
import { type HostMessage, hostQueueMessage } from "../../../schemas/messages.ts";
import { priorities } from "../../../schemas/url-state.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import type { VirtualClock } from "../../lib/virtual-clock.ts";
import type { DueTimes } from "./due-times.ts";
import { writeCompletion } from "./frontier-services.ts";
import { numbersOfUrl } from "./given.ts";

interface QuickFetch {
  raw: RawTables;
  services: CrawlServices;
  clock: VirtualClock;
  times: DueTimes;
  hosts: number;
  /** A host. */
  urls: number;
}

/** Waits for a lease's time, writes what a fetch without latency would have written, and reports. */
export function quickFetch({ raw, services, clock, times, hosts, urls }: QuickFetch) {
  const outputs = {};
  let grants = 0;
  const dueAt = new Float64Array(hosts * urls);
  const byTime = new Map<number, FetchLease[]>();
  const completeLease = (lease: FetchLease): Uint8Array => {
    const { host, url } = numbersOfUrl(lease.url);
    const now = clock.now();
    const place = host * urls + url;
    const first = lease.version === 0;
    const dueBefore = first ? times.first(host, url) : dueAt[place]!;
    const againMs = times.againMs(host);
    const priority = againMs === 0 ? priorities.discovery : priorities.revisit;
    const priorityBefore = first ? priorities.discovery : priority;
    const nextDueAt = now + againMs;
    dueAt[place] = nextDueAt;
    writeCompletion(raw, lease, { now, dueBefore, priorityBefore, dueAt: nextDueAt, priority });
    const { paceKey, leaseId, urlId, hostKey } = lease;
    const message: HostMessage = {
      ...{ kind: "report", paceKey, leaseId, urlId, hostKey },
      ...{ fetched: true, result: "fetched", at: now, nextDueAt, nextStartAt: now + services.live.now().delayMs + 1 },
    };
    return encode(hostQueueMessage, { kind: "host", message });
  };
  const completeAll = (at: number): void => {
    const leases = byTime.get(at) ?? [];
    byTime.delete(at);
    for (const lease of leases) void services.queues.host.publish([completeLease(lease)]);
  };
  const takeLease = (lease: FetchLease): void => {
    grants++;
    const at = Math.max(lease.notBefore, clock.now());
    const known = byTime.get(at);
    if (known !== undefined) return void known.push(lease);
    byTime.set(at, [lease]);
    clock.after(at - clock.now(), () => completeAll(at));
  };
  const definition: DoFnDefinition<FetchLease, typeof outputs, object, CrawlServices> = {
    ...{ form: "each", name: "Fetch", input: fetchLease, outputs },
    make: () => ({ process: takeLease }),
  };
  return { definition, grants: () => grants };
}
