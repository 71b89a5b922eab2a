// Do events tell in which way a server's TLS is broken, while records and counters keep to the closed list of reasons?
import assert from "node:assert/strict";
import { test } from "node:test";
import { failureReasons } from "../../../schemas/reasons.ts";
import { failureDetails } from "../../../transforms/fetch/fetch-event.ts";
import { urlRecord, world } from "../world.ts";
import { addUrl, allowAll, PAGE, PAGE_ID, pageLease, robotsLease, runLease } from "./leases.ts";

const EXPIRED = { connectFails: "tls", detail: "tls-expired: a.test: the certificate has expired (CERT_HAS_EXPIRED)" } as const;

test("of a TLS failure the fault is told, where there is one; of others the reason alone", () => {
  const told = (reason: (typeof failureReasons)[number], detail: string) =>
    failureDetails({ ok: false, reason, detail, endedAt: 1 });
  assert.deepEqual(told("tls", EXPIRED.detail), { reason: "tls", fault: "tls-expired" });
  for (const detail of [
    "",
    "closed",
    "tls",
    "tls-",
    "tls-expired",
    "TLS-EXPIRED: x",
    " tls-expired: x",
    `tls-${"x".repeat(99)}: y`,
  ])
    assert.deepEqual(told("tls", detail), { reason: "tls" }, detail);
  for (const reason of failureReasons)
    if (reason !== "tls") assert.deepEqual(told(reason, "tls-expired: said by somebody else"), { reason });
});

test("a page: the event tells the fault, the record and the counter that it was TLS", async () => {
  const given = world({ site: { [PAGE]: EXPIRED } });
  await allowAll(given.services);
  await addUrl(given.services);
  await runLease(given, pageLease());
  assert.deepEqual(
    given.events.of("fetch").map(({ outcome, reason }) => [outcome, reason]),
    [["failed", "tls-expired"]],
  );
  assert.deepEqual(Object.keys(given.events.of("fetch")[0]!).includes("fault"), false);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.lastReason, "tls");
  assert.deepEqual(given.metrics.totalsBy("gleaner_fetch_reasons_total", "reason"), { tls: 1 });
});

test("robots.txt: the same", async () => {
  const given = world({ site: { "http://a.test/robots.txt": EXPIRED } });
  await runLease(given, robotsLease());
  assert.equal(given.events.of("fetch")[0]?.reason, "tls-expired");
  const [view] = await given.services.robots.read("a.test", ["http://a.test"]);
  assert.deepEqual([view?.state?.status, view?.state?.reason], ["unreachable", "tls"]);
});
