// What does each thing cost that a crawl uses? The price list prices.json, as a table from the name to US dollars.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const priceNames = [
  "bigtableNodeHour",
  "bigtableSsdMonth",
  "dataflowStreamingVcpuHour",
  "dataflowStreamingMemoryHour",
  "dataflowDiskHour",
  "dataflowStreamingEngineData",
  "dataflowBatchVcpuHour",
  "dataflowBatchMemoryHour",
  "dataflowShuffleData",
  "pubsubThroughput",
  "pubsubBigquerySubscription",
  "pubsubStorageSubscription",
  "storageStandardMonth",
  "storageNearlineMonth",
  "storageColdlineMonth",
  "storageArchiveMonth",
  "storageClassA",
  "storageClassB",
  "storageClassANearline",
  "storageClassAColdline",
  "storageClassAArchive",
  "bigqueryActiveMonth",
  "bigqueryLongTermMonth",
  "bigqueryQuery",
  "natWorkerHour",
  "natGatewayHour",
  "natData",
  "natAddressHour",
  "workerAddressHour",
  "egressData",
] as const;
export type PriceName = (typeof priceNames)[number];

export interface Price {
  name: PriceName;
  /** US dollars, before tax and discounts, free quotas left out. */
  usd: number;
  /** What is paid for at that price. */
  per: string;
  /** Of Google's regions; those of the first price group cost the same. */
  region: string;
  /** A public address, or NOT_VERIFIED. */
  source: string;
  /** YYYY-MM-DD: of the source where it has one, else of the day when it was read. */
  date: string;
  /** How the price was read, in words. */
  how: string;
}

/** In place of an address: the price is remembered, and no public page that states it was found. */
export const NOT_VERIFIED = "not verified";

/** US dollars by name. */
export type Prices = Readonly<Record<PriceName, number>>;

export interface PriceList {
  list: readonly Price[];
  prices: Prices;
  /** The same without those that are not verified: what differs by it rests on them. */
  verified: Prices;
}

/** Throws where a name is missing, twice there or unknown. */
export function readPrices(): PriceList {
  const list = JSON.parse(readFileSync(join(import.meta.dirname, "prices.json"), "utf8")) as Price[];
  const names = list.map(({ name }) => name).sort();
  if (JSON.stringify(names) !== JSON.stringify([...priceNames].sort()))
    throw new Error("the names of prices.json are not those of prices.ts");
  return { list, prices: pricesOf(list, ({ usd }) => usd), verified: pricesOf(list, verifiedUsd) };
}

function verifiedUsd({ source, usd }: Price): number {
  return source === NOT_VERIFIED ? 0 : usd;
}

function pricesOf(list: readonly Price[], usdOf: (price: Price) => number): Prices {
  return Object.fromEntries(list.map((price) => [price.name, usdOf(price)])) as Record<PriceName, number>;
}
