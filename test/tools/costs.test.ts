// Are costs what their figures and prices come to by hand, and does docs/costs.md say what the command says?
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { billOf, services, sumOf } from "../../tools/lib/costs/bill.ts";
import { assumed, type Figure, measured } from "../../tools/lib/costs/figures.ts";
import { type Choices, commitsPerSecond, fetchOf, objectsOf, usual } from "../../tools/lib/costs/flows.ts";
import { keptUsd } from "../../tools/lib/costs/keeping.ts";
import { type Plan, planOf, readSizes, type SizesFile, sizesIn } from "../../tools/lib/costs/plan.ts";
import { NOT_VERIFIED, readPrices } from "../../tools/lib/costs/prices.ts";
import { costTable, leversOf, leverTable, pricedOf } from "../../tools/lib/costs/tables.ts";
import { runCosts } from "../../tools/lib/costs/tool.ts";

const ROOT = join(import.meta.dirname, "../..");
const { list, prices } = readPrices();
const near = (got: number, wanted: number, what?: string): void =>
  assert.ok(Math.abs(got - wanted) <= Math.abs(wanted) * 1e-6, `${what ?? ""} ${got}, by hand ${wanted}`);

/** A size of round numbers, so that what is tested does not change with terraform's. */
const PLAN: Plan = {
  fetchesPerDay: 1_000_000_000,
  nodes: { peak: 72, mean: 33 },
  workers: { peak: 240, mean: 111 },
  vcpusPerWorker: 2,
  memoryGibPerWorker: 8,
  addresses: 80,
};

test("what a fetch moves and keeps is the sum of its parts", () => {
  const fetch = fetchOf(usual);
  near(fetch.received, 20_000 * (0.3 + 0.7 * 0.5) + 5_000);
  near(fetch.sent, 2_500);
  near(fetch.queueDelivered, 2.1 * (99 + 40) + 0.3 * (100 + 62 * 61 + 40));
  near(fetch.eventsDelivered, 607 + 40 + 0.3 * (319 + 40) + 0.3 * (214 + 40));
  near(fetch.queuePublished, fetch.queueDelivered, "more than a kilobyte a call");
  near(fetch.eventRows, 402 + 0.3 * 237 + 0.3 * 214);
  near(fetch.engine, 195 + 2.1 * 139 + 0.3 * 3_922 + 2 * 1_326 * 5.5);
  near(fetch.pagesKept, 0.3 * 20_000 * 1.17 + 0.7 * 1_034);
  near(fetch.documentsKept, 0.3 * 4_241);
  assert.equal(fetchOf({ documents: false }).documentsKept, 0);
  near(fetchOf({ documents: false }).eventRows, 402 + 0.3 * 214);
});

test("commits gather for half a second from the first page, so that a worker has two a second at most", () => {
  assert.equal(commitsPerSecond(0), 0);
  near(commitsPerSecond(2), 1);
  near(commitsPerSecond(115), 230 / 117, "at a worker's mean");
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      (pages) => commitsPerSecond(pages) <= Math.min(2, pages) * (1 + 1e-9),
    ),
  );
});

test("a commit makes a segment and its index, and one with changed pages a part of documents; closing composes and reads them", () => {
  const objects = objectsOf(864_000, 5, usual); // 2 pages a second and worker, 0.6 of them changed
  near(objects.segments, 5 * 86_400);
  near(objects.documentParts, (5 * 86_400) / (0.5 + 1 / 0.6));
  near(objects.classA, 2 * objects.segments + objects.documentParts + objects.segments / 32);
  near(objects.classB, objects.segments + objects.documentParts);
  const open = objectsOf(864_000, 5, { documents: false, closedDays: false });
  assert.deepEqual([open.documentParts, open.classA, open.classB], [0, 2 * open.segments, 0]);
});

test("what is kept is billed by its age, a month being 730 hours", () => {
  const steps = [
    { fromDay: 0, usdPerGibMonth: 0.02 },
    { fromDay: 30, usdPerGibMonth: 0.004 },
  ];
  near(keptUsd(10, 100, steps), ((10 * 30 * 0.02 + 10 * 70 * 0.004) * 24) / 730);
  near(keptUsd(10, 20, steps), (10 * 20 * 0.02 * 24) / 730, "younger than the second step");
  assert.equal(keptUsd(10, 0, steps), 0);
});

const GIB = 2 ** 30;
const bills: [what: string, choices: Partial<Choices>, service: (typeof services)[number], usd: number][] = [
  ["nodes of the peak", {}, "Bigtable: nodes", 72 * 24 * 0.65],
  ["nodes of the mean", { running: "mean" }, "Bigtable: nodes", 33 * 24 * 0.65],
  ["URLs and a year's bodies", {}, "Bigtable: storage", ((1e10 * 278 + 1e9 * 0.3 * 365 * 244) / GIB) * 0.17 * (24 / 730)],
  ["workers with disks of 30 GiB", {}, "Dataflow: workers", 240 * 24 * (2 * 0.069 + 8 * 0.003557 + 30 * 0.000054)],
  [
    "workers with disks of 400 GiB",
    { streamingEngine: false },
    "Dataflow: workers",
    240 * 24 * (2 * 0.069 + 8 * 0.003557 + 400 * 0.000054),
  ],
  ["no Streaming Engine", { streamingEngine: false }, "Dataflow: Streaming Engine", 0],
  ["Streaming Engine", {}, "Dataflow: Streaming Engine", ((1e9 * 16_249.5) / GIB) * 0.018],
  [
    "every URL once a day",
    {},
    "Dataflow: the daily job",
    ((1e10 * 264e-6 * 2) / 3_600) * (0.056 + 4 * 0.003557) + ((1e10 * 900) / GIB) * 0.011,
  ],
  ["queues, both ways", {}, "Pub/Sub: queues", ((1e9 * 2 * 1_468.5) / 2 ** 40) * 40],
  ["events", {}, "Pub/Sub: events into BigQuery", ((1e9 * 830.9) / 2 ** 40) * (40 + 50)],
  ["events once more", {}, "Pub/Sub: events into the bucket", ((1e9 * 830.9) / 2 ** 40) * 50],
  [
    "events by their age",
    {},
    "Cloud Storage: events kept",
    ((1e9 * 766.9) / GIB) * (30 * 0.02 + 150 * 0.01 + 185 * 0.004) * (24 / 730),
  ],
  ["NAT above 32 workers", {}, "Network: NAT and addresses", 24 * (0.044 + 80 * 0.005) + ((1e9 * 20_500) / GIB) * 0.045],
  ["addresses of workers", { addressPerWorker: true }, "Network: NAT and addresses", 240 * 24 * 0.005],
  ["sent", {}, "Network: sent to the internet", ((1e9 * 2_500) / GIB) * 0.12],
  ["indexes", {}, "Cloud Storage: indexes kept", ((1e9 * 335) / GIB) * 365 * 0.02 * (24 / 730)],
  ["no documents", { documents: false }, "Cloud Storage: documents kept", 0],
  [
    "pages of three years, deleted after two",
    { crawlDays: 1_095, pagesDeletedDays: 730 },
    "Cloud Storage: pages kept",
    ((1e9 * 7_743.8) / GIB) * (30 * 0.02 + 335 * 0.004 + 365 * 0.0012) * (24 / 730) +
      (Math.ceil((1e9 * 7_743.8) / GIB) * (0.02 + 0.05)) / 1_000,
  ],
  [
    "events, 90 days of them active, and queries",
    {},
    "BigQuery: storage and queries",
    ((1e9 * 537.3) / GIB) * (90 * 0.023 + 275 * 0.016) * (24 / 730) + ((1e9 * (144 * 6 + 5 * 537.3)) / 2 ** 40) * 6.25,
  ],
];

for (const [what, choices, service, usd] of bills)
  test(`${service}, ${what}: what a day costs by hand`, () =>
    near(billOf(PLAN, prices, { ...usual, ...choices })[service], usd));

test("up to 32 workers the gateway is paid for by the worker", () => {
  const small: Plan = { ...PLAN, fetchesPerDay: 1_000_000, workers: { peak: 20, mean: 10 }, addresses: 7 };
  const usd = 24 * (20 * 0.0014 + 7 * 0.005) + ((1e6 * 20_500) / GIB) * 0.045;
  near(billOf(small, prices, usual)["Network: NAT and addresses"], usd);
});

test("days that are not closed pay for a change of class a commit", () => {
  const { segments, documentParts } = objectsOf(PLAN.fetchesPerDay, 240, usual);
  const kept = billOf(PLAN, prices, { ...usual, closedDays: false });
  const usually = billOf(PLAN, prices, usual);
  const objects = [Math.ceil((1e9 * 7_743.8) / GIB), Math.ceil((4 * 1e9 * 1_272.3) / GIB)];
  near(kept["Cloud Storage: pages kept"] - usually["Cloud Storage: pages kept"], ((segments - objects[0]!) * 0.02) / 1_000);
  near(
    kept["Cloud Storage: documents kept"] - usually["Cloud Storage: documents kept"],
    ((documentParts - objects[1]!) * 0.03) / 1_000,
  );
});

const choices = fc.record({
  running: fc.constantFrom("peak" as const, "mean" as const),
  crawlDays: fc.integer({ min: 0, max: 4_000 }),
  pagesDeletedDays: fc.integer({ min: 0, max: 4_000 }),
  addressPerWorker: fc.boolean(),
  streamingEngine: fc.boolean(),
  documents: fc.boolean(),
  closedDays: fc.boolean(),
});

test("no size and no choice gives a bill that is negative or no number", () => {
  const file = readSizes();
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 1e11 }), choices, (fetches, chosen) => {
      const bill = billOf(planOf(fetches, file), prices, chosen);
      for (const service of services) assert.ok(Number.isFinite(bill[service]) && bill[service] >= 0, service);
      assert.ok(sumOf(bill) > 0);
    }),
  );
});

const FIGURES: SizesFile["figures"] = {
  peakToMean: { value: 2 },
  fetchesPerWorker: { value: 100 },
  cpusPerWorker: { value: 2 },
  bigtableCallsPerFetch: { value: 10 },
  bigtableConditionalPerFetch: { value: 7 },
  bigtableCallsPerNode: { value: 10_000 },
  bigtableConditionalPerNode: { value: 5_000 },
  bigtableLoad: { value: 0.5 },
  natPortsPerWorker: { value: 16_384 },
};

test("between the sizes nodes, workers and addresses follow from the figures", () => {
  // 1,000 a second, 2,000 at the peak; a fetch is 0.0017 of a node, of which half may be used
  assert.deepEqual(planOf(86_400_000, { figures: FIGURES, sizes: {} }), {
    fetchesPerDay: 86_400_000,
    nodes: { peak: 7, mean: 4 },
    workers: { peak: 22, mean: 11 },
    vcpusPerWorker: 2,
    memoryGibPerWorker: 8,
    addresses: 8,
  });
  const least = planOf(1_000, { figures: FIGURES, sizes: {} });
  assert.deepEqual(
    [least.nodes, least.workers],
    [
      { peak: 1, mean: 1 },
      { peak: 2, mean: 1 },
    ],
  );
});

test("each size of Terraform pays for its own nodes, workers and addresses, and no fewer than its figures ask for", () => {
  const file = readSizes();
  for (const fetches of sizesIn(file)) {
    const plan = planOf(fetches, file);
    const computed = planOf(fetches, { ...file, sizes: {} });
    const size = file.sizes[String(fetches)]!;
    assert.deepEqual(
      [plan.nodes.peak, plan.nodes.mean, plan.workers.peak, plan.addresses],
      [size.bigtableNodes.max, size.bigtableNodes.min, size.workersMax, size.quotas.staticAddresses],
    );
    assert.ok(plan.nodes.peak >= computed.nodes.peak && plan.workers.peak >= computed.workers.peak, String(fetches));
  }
});

test("every price has an amount, a unit, a region, a source and a date, and says how it was read", () => {
  for (const { name, usd, per, region, source, date, how } of list) {
    assert.ok(usd > 0 && per !== "" && region !== "" && how !== "", name);
    assert.match(source, source === NOT_VERIFIED ? /^not verified$/ : /^https:\/\/cloud\.google\.com\/[\w/-]+$/, name);
    assert.equal(new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10), date, name);
  }
});

test("every figure says where it is from", () => {
  for (const [name, { value, unit, from }] of Object.entries<Figure>({ ...measured, ...assumed }))
    assert.ok(value > 0 && unit !== "" && from !== "", name);
});

test("constants that tools may not import are those of their files", () => {
  for (const [path, text] of [
    ["io/objects/gcs/gathered-commit.ts", "GATHER_MS = 500;"],
    ["io/objects/gcs/bucket.ts", "COMPOSE_PARTS_MAX = 32;"],
    ["terraform/modules/objects/variables.tf", "{ coldline = 30, archive = 365 }"],
    ["terraform/modules/objects/variables.tf", "{ nearline = 30, coldline = 180 }"],
    ["terraform/modules/watch/main.tf", '"every 6 hours"'],
  ] as const)
    assert.ok(readFileSync(join(ROOT, path), "utf8").includes(text), `${path} has ${text}`);
});

test("the tables have a row for each service and a pair of columns for each size, and mark what is not verified", () => {
  const file = readSizes();
  const sizes = sizesIn(file).map((fetches) => pricedOf(planOf(fetches, file), { prices }));
  const [head, , ...rows] = costTable(sizes, readPrices()).split("\n");
  assert.equal(rows.length, services.length + 2);
  for (const fetches of sizesIn(file)) assert.ok(head!.includes(`| ${fetches.toLocaleString("en")} pages a day`), head);
  for (const row of rows) assert.equal(row.split("|").length, 2 * sizes.length + 3, row);
  const marked = rows.filter((row) => row.includes(" * ")).map((row) => row.split("|")[1]!.trim());
  assert.deepEqual(marked, ["Cloud Storage: pages kept *", "Cloud Storage: documents kept *"]);
  const allVerified = costTable(sizes, { list, prices, verified: prices });
  assert.ok(!allVerified.includes(" * "));
});

test("docs/costs.md has the tables as the command prints them, the dates of the prices, and what is not verified", () => {
  const page = readFileSync(join(ROOT, "docs/costs.md"), "utf8");
  const { stdout, code } = runCosts([]);
  assert.equal(code, 0);
  const [costs, , changes] = stdout.split("\n\n");
  assert.ok(page.includes(`\n${costs}\n`), "the table of costs is not what npm run costs prints");
  assert.ok(page.includes(`\n${changes}\n`), "the table of choices is not what npm run costs prints");
  const dates = list.map(({ date }) => date).sort();
  assert.ok(page.includes(`${dates[0]} to ${dates.at(-1)}`), "the dates of the prices");
  for (const { name } of list.filter(({ source }) => source === NOT_VERIFIED)) assert.ok(page.includes(`\`${name}\``), name);
  for (const { value } of [assumed.pageWireBytes, assumed.changedShare, assumed.crawlDays])
    assert.ok(page.includes(value.toLocaleString("en")), `the assumption of ${value}`);
});

test("what is printed names every assumption, figure and price", () => {
  const { stdout } = runCosts([]);
  for (const name of [...Object.keys({ ...measured, ...assumed }), ...list.map((price) => price.name)])
    assert.match(stdout, new RegExp(`^  ${name} `, "m"));
  assert.match(stdout, /storageClassAColdline.*NOT VERIFIED/);
});

test("--json has the bills, not rounded, with the same figures, and --fetches-per-day adds a size in its place", () => {
  const { stdout, code } = runCosts(["--json", "--fetches-per-day", "10000000"]);
  assert.equal(code, 0);
  const told = JSON.parse(stdout);
  const sizes = [...sizesIn(readSizes()), 10_000_000].sort((one, other) => one - other);
  assert.deepEqual(
    told.sizes.map((size: Plan) => size.fetchesPerDay),
    sizes,
  );
  for (const { fetchesPerDay, services: rows, sums } of told.sizes) {
    const sum = rows.reduce((usd: number, { usdPerDay }: { usdPerDay: number }) => usd + usdPerDay, 0);
    near(sums.peak.usdPerDay, sum);
    near(sums.peak.usdPerMillion, sum / (fetchesPerDay / 1e6));
    assert.ok(sums.mean.usdPerDay < sums.peak.usdPerDay);
  }
  assert.equal(told.prices.length, list.length);
  assert.equal(told.levers.length, leversOf([], readPrices()).length);
  assert.ok(leverTable([], leversOf([], readPrices())).includes("NAT"));
});

const usage: [args: string[], line: RegExp][] = [
  [["--fetches-per-day", "999"], /a whole number from 1000 to 100000000000, not '999'/],
  [["--fetches-per-day", "100000000001"], /not '100000000001'/],
  [["--fetches-per-day", "1e9"], /not '1e9'/],
  [["--fetches-per-day", ""], /not ''/],
  [["--fetches-per-day", "-5"], /--fetches-per-day/],
  [["--pages", "5"], /--pages/],
  [["dev"], /no argument is expected, not 'dev'/],
];
for (const [args, line] of usage)
  test(`costs ${args.join(" ")}: code 2 and one line`, () => {
    const { code, stdout, stderr } = runCosts(args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, line);
    assert.match(stderr, /^costs: [^\n]*\n$/);
  });

test("the command itself prints its help and ends with code 0", () => {
  const path = join(ROOT, "tools/costs.ts");
  assert.ok(existsSync(path));
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, "-h"], { encoding: "utf8", timeout: 20_000 });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /--fetches-per-day N[\s\S]*Exit codes: 0 done, 2 bad usage/);
});
