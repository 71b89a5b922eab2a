// Which nodes, workers and addresses does a size pay for? As terraform/environments/sizes.json has them; between sizes by the same figures.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_SECONDS } from "./units.ts";

/** terraform/environments/sizes.json. */
export interface SizesFile {
  figures: Readonly<Record<FigureName, { value: number }>>;
  /** By fetches a day. */
  sizes: Readonly<Record<string, Size>>;
}

type FigureName =
  | "peakToMean"
  | "fetchesPerWorker"
  | "cpusPerWorker"
  | "bigtableCallsPerFetch"
  | "bigtableConditionalPerFetch"
  | "bigtableCallsPerNode"
  | "bigtableConditionalPerNode"
  | "bigtableLoad"
  | "natPortsPerWorker";

interface Size {
  bigtableNodes: { min: number; max: number };
  machineType: string;
  workersMax: number;
  quotas: { staticAddresses: number };
}

/** What is there to be paid for: all that the peak needs, and what the mean needs where the rest is scaled away. */
export interface Plan {
  fetchesPerDay: number;
  nodes: { peak: number; mean: number };
  workers: { peak: number; mean: number };
  vcpusPerWorker: number;
  memoryGibPerWorker: number;
  /** Of the NAT, reserved all day. */
  addresses: number;
}

export function readSizes(): SizesFile {
  const path = join(import.meta.dirname, "../../../terraform/environments/sizes.json");
  return JSON.parse(readFileSync(path, "utf8")) as SizesFile;
}

/** In the order of the file. */
export function sizesIn({ sizes }: SizesFile): number[] {
  return Object.keys(sizes).map(Number);
}

export function planOf(fetchesPerDay: number, file: SizesFile): Plan {
  const size = file.sizes[String(fetchesPerDay)] ?? computedSize(fetchesPerDay, file.figures);
  const vcpus = Number(size.machineType.split("-")[2]);
  const mean = size.workersMax / file.figures.peakToMean.value;
  return {
    fetchesPerDay,
    nodes: { peak: size.bigtableNodes.max, mean: size.bigtableNodes.min },
    workers: { peak: size.workersMax, mean: Math.max(1, mean) },
    vcpusPerWorker: vcpus,
    memoryGibPerWorker: vcpus * STANDARD_GIB_PER_VCPU,
    addresses: size.quotas.staticAddresses,
  };
}

/** Of Google's machine types called standard: n2-standard-2 has 8 GiB. */
const STANDARD_GIB_PER_VCPU = 4;
const PORTS_OF_AN_ADDRESS = 64_512; // terraform/modules/network/README.md
const SPARE_WORKERS = 1.1; // a tenth more, as there
const WORKERS_MIN = 2; // as the smallest size has

function computedSize(fetchesPerDay: number, figures: SizesFile["figures"]): Size {
  const mean = fetchesPerDay / DAY_SECONDS;
  const peak = mean * figures.peakToMean.value;
  const workersMax = Math.max(WORKERS_MIN, Math.ceil((peak / figures.fetchesPerWorker.value) * SPARE_WORKERS));
  const workersOfAnAddress = Math.floor(PORTS_OF_AN_ADDRESS / figures.natPortsPerWorker.value);
  return {
    bigtableNodes: { min: nodesFor(mean, figures), max: nodesFor(peak, figures) },
    machineType: `n2-standard-${figures.cpusPerWorker.value}`,
    workersMax,
    quotas: { staticAddresses: Math.ceil(workersMax / workersOfAnAddress) },
  };
}

function nodesFor(fetchesPerSecond: number, figures: SizesFile["figures"]): number {
  const conditional = figures.bigtableConditionalPerFetch.value;
  const other = figures.bigtableCallsPerFetch.value - conditional;
  const busy = conditional / figures.bigtableConditionalPerNode.value + other / figures.bigtableCallsPerNode.value;
  return Math.max(1, Math.ceil((fetchesPerSecond * busy) / figures.bigtableLoad.value));
}
