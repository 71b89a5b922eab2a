// How does a URL complete for which no request is made? With the reason, and a date to judge it again.

import type { Versioned } from "../../ports/versioned-table.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import type { SettledOutcome } from "../../schemas/reasons.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";
import { completeDurably } from "./complete.ts";
import { outcomeEvent } from "./fetch-event.ts";
import type { LeaseEnd } from "./run-lease.ts";

export async function settle(
  services: CrawlServices,
  lease: FetchLease,
  outcome: SettledOutcome | "poisoned",
  found?: Versioned<UrlState>,
): Promise<LeaseEnd> {
  await outcomeEvent(services, lease, { outcome, at: services.clock.now() });
  const done = await completeDurably(services, lease, { outcome }, { found });
  const after = done === undefined ? {} : { nextDueAt: done.record.nextFetchAt, afterwards: done.afterwards };
  return { fetched: false, result: outcome, ...after };
}
