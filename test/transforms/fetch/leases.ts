// What the tests of a lease begin with: a URL that is due, robots rules that allow it, a lease for it, and the lease run to its end.
import { urlIdentity } from "../../../core/url/keys.ts";
import type { FetchLease } from "../../../schemas/lease.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { putDue } from "../../../transforms/due-index.ts";
import { leaseRunner } from "../../../transforms/fetch/run-lease.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { url } from "../../core/frontier/given.ts";
import { START, type world } from "../world.ts";

export type World = ReturnType<typeof world>;
export const HOST_KEY = "http://a.test";
export const PAGE = "http://a.test/page";
export const PAGE_ID = urlIdentity(PAGE).urlId;
const DAY = 86_400_000;

export const html = (body: string, more: Record<string, string> = {}) => ({
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8", ...more },
  body,
});
export const LINKED = html('<title>one</title><p>words of a page</p><a href="/a">a</a><a href="/b">b</a>');

/** Of PAGE, or the canonicalUrl given. */
export async function addUrl(services: CrawlServices, change: Partial<UrlState> = {}): Promise<UrlState> {
  const value = url({ canonicalUrl: PAGE, nextFetchAt: START - 10, priority: 1, ...change });
  const { urlId } = urlIdentity(value.canonicalUrl);
  await services.tables.urls.insertIfAbsent([{ key: rowKey("a.test", urlId), value }]);
  await putDue(services, [{ paceKey: "a.test", urlId, priority: value.priority, dueAt: value.nextFetchAt }]);
  return value;
}

export async function allowAll(services: CrawlServices, hostKey = HOST_KEY): Promise<void> {
  await putRobots(services, "", hostKey);
}

export async function putRobots(services: CrawlServices, text: string, hostKey = HOST_KEY): Promise<void> {
  const value = { status: "rules" as const, fetchedAt: START - 5, expiresAt: START + DAY, body: Buffer.from(text) };
  await services.tables.robots.insertIfAbsent([{ key: rowKey("a.test", hostKey), value }]);
}

export function pageLease(change: Partial<FetchLease> = {}): FetchLease {
  const leased = change.url ?? PAGE;
  return {
    leaseId: "lease-1",
    urlId: urlIdentity(leased).urlId,
    url: leased,
    version: 0,
    hostKey: HOST_KEY,
    paceKey: "a.test",
    kind: "page",
    notBefore: START,
    startBy: START + 10_000,
    attempt: 0,
    epoch: 1,
    ...change,
  };
}

export const robotsLease = (change: Partial<FetchLease> = {}): FetchLease =>
  pageLease({ leaseId: "robots-1", url: `${HOST_KEY}/robots.txt`, kind: "robots", ...change });

/** Runs it to its end, and as much of the clock as that takes. Gives when it wants to run again. */
export async function runLease(given: World, lease: FetchLease, services = given.services): Promise<number | undefined> {
  let ended = false;
  const run = leaseRunner({ services, onBroken: () => {} })(lease).finally(() => {
    ended = true;
  });
  for (let waited = 0; !ended && waited < 100; waited++) await given.clock.run(given.clock.nextAt() ?? given.clock.now());
  return run;
}
