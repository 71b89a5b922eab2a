// Does each size carry what it is called after? Nodes, workers, ports and quotas, computed anew from the figures that stand beside them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofType, only, plannedCrawl } from "./planned-crawl.ts";
import { TERRAFORM } from "./terraform-module.ts";

interface Size {
  bigtableNodes: { min: number; max: number };
  machineType: string;
  workersMax: number;
  quotas: { bigtableNodes: number; cpus: number; staticAddresses: number };
}

const { figures, sizes } = JSON.parse(readFileSync(join(TERRAFORM, "environments/sizes.json"), "utf8")) as {
  figures: Record<string, { value: number; from: string }>;
  sizes: Record<string, Size>;
};
const figure = (name: string): number => figures[name]!.value;
const DAY_SECONDS = 24 * 60 * 60;

test("each figure says where it is from", () => {
  for (const [name, { from }] of Object.entries(figures)) assert.match(from, /^(?:measured|assumed|computed|Google)/, name);
});

for (const [day, { bigtableNodes, machineType, workersMax, quotas }] of Object.entries(sizes))
  test(`the size of ${Number(day).toLocaleString("en")} fetches a day carries its peak, and asks for the quotas that it needs`, async () => {
    const mean = Number(day) / DAY_SECONDS;
    const peak = mean * figure("peakToMean");
    assert.ok(workersMax >= peak / figure("fetchesPerWorker"), "workers");
    assert.ok(bigtableNodes.max >= nodesFor(peak), `${nodesFor(peak)} nodes at the peak`);
    assert.ok(bigtableNodes.min >= Math.min(nodesFor(mean), bigtableNodes.max), `${nodesFor(mean)} nodes at the mean`);
    assert.equal(Number(machineType.split("-")[2]), figure("cpusPerWorker"));
    // The daily job may have as many workers as the streaming one, at the same time.
    assert.deepEqual(quotas.cpus, 2 * workersMax * figure("cpusPerWorker"));
    assert.equal(quotas.bigtableNodes, bigtableNodes.max);
    const plan = await plannedCrawl({ given: { fetches_per_day: Number(day) } });
    assert.equal(ofType(plan, "google_compute_address").length, quotas.staticAddresses);
    assert.equal(only(plan, "google_compute_router_nat").min_ports_per_vm, figure("natPortsPerWorker"));
    assert.equal(only(plan, "google_dataflow_job").max_workers, workersMax);
  });

function nodesFor(fetchesPerSecond: number): number {
  const conditional = figure("bigtableConditionalPerFetch");
  const other = figure("bigtableCallsPerFetch") - conditional;
  const busy = conditional / figure("bigtableConditionalPerNode") + other / figure("bigtableCallsPerNode");
  return (fetchesPerSecond * busy) / figure("bigtableLoad");
}

test("with an address for each worker there is no NAT, and the job asks for public addresses", async () => {
  const plan = await plannedCrawl({ given: { address_per_worker: true } });
  assert.deepEqual([...ofType(plan, "google_compute_router_nat"), ...ofType(plan, "google_compute_address")], []);
  assert.equal(only(plan, "google_dataflow_job").ip_configuration, "WORKER_IP_PUBLIC");
});

test("the ports of all addresses suffice for a peak all of which goes to one address", async () => {
  const plan = await plannedCrawl({ given: { fetches_per_day: 1_000_000_000 } });
  const ports = Number(only(plan, "google_compute_router_nat").min_ports_per_vm);
  const timeWait = Number(only(plan, "google_compute_router_nat").tcp_time_wait_timeout_sec);
  assert.ok(ports >= figure("fetchesPerWorker") * (timeWait + 2.2));
  assert.ok(Math.floor(64_512 / ports) * ofType(plan, "google_compute_address").length >= sizes["1000000000"]!.workersMax);
});
