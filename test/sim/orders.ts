// What does an operator order while the crawl runs? Hosts and patterns paused, slowed, excluded and released, at times of the seed's.
import type { Clock } from "../../ports/clock.ts";
import type { HostPolicies, HostPolicy } from "../../schemas/crawl-config.ts";
import { type Chance, chance } from "./chance.ts";
import type { SimHost, World } from "./world.ts";

/** All that is ordered from `at` (Unix ms, true time) on. */
export interface SimOrder {
  at: number;
  policies: HostPolicies;
}

interface Measure {
  policy: HostPolicy;
  from: number;
  /** Infinity: it is never lifted. */
  until: number;
}

const MEASURES_MAX = 6;
const FIRST_MS = 20_000;
const LAST_MS = 8 * 60_000; // runs of a thousand requests last longer
const SHORTEST_MS = 30_000;
const LONGEST_MS = 6 * 60_000;
const NEVER_LIFTED = 0.2;

/** In the order of their times. No host is named by two measures, and the seed's host by none. */
export function ordersOf(world: World): SimOrder[] {
  const draw = chance(world.seed, "orders");
  const measures: Measure[] = [];
  const hosts = world.hosts.slice(1);
  for (let count = draw.whole(0, Math.min(MEASURES_MAX, hosts.length >> 1)); count > 0; count--) {
    const [host] = hosts.splice(draw.whole(0, hosts.length - 1), 1);
    const from = world.startAt + draw.whole(FIRST_MS, LAST_MS);
    const until = draw.flip(NEVER_LIFTED) ? Number.POSITIVE_INFINITY : from + draw.whole(SHORTEST_MS, LONGEST_MS);
    measures.push({ policy: measureFor(host!, draw), from, until });
  }
  const times = [...new Set(measures.flatMap(({ from, until }) => [from, until]))].filter(Number.isFinite);
  return times
    .sort((one, other) => one - other)
    .map((at, index) => {
      const standing = measures.filter(({ from, until }) => from <= at && at < until);
      return { at, policies: { version: index + 1, hosts: standing.map(({ policy }) => policy) } };
    });
}

/** As npm run hosts writes them. */
function measureFor({ name: host }: SimHost, draw: Chance): HostPolicy {
  const whole = { host, agreed: false };
  const pattern = { host, pattern: `http://${host}/p**` };
  return draw.pick<HostPolicy>([
    { ...whole, paused: true },
    { ...whole, excluded: true },
    { ...whole, delayMs: draw.whole(2, 8) * 1_000 },
    { ...pattern, paused: true },
    { ...pattern, excluded: true },
  ]);
}

const NOTHING: HostPolicies = { version: 0, hosts: [] };

export interface HeardOrders {
  /** What stands. */
  read(): Promise<HostPolicies>;
  /** The same where it has changed since the last such call; the first gives what there is. */
  changed(): Promise<HostPolicies | undefined>;
}

/** As a crawl reads them from its data directory (pipelines/orders.ts). */
export function heardOrders(orders: readonly SimOrder[], clock: Clock): HeardOrders {
  const standing = (): HostPolicies => {
    const now = clock.now();
    return orders.findLast(({ at }) => at <= now)?.policies ?? NOTHING;
  };
  let heard: HostPolicies | undefined;
  return {
    read: async () => standing(),
    async changed() {
      const found = standing();
      if (found === heard) return undefined;
      heard = found;
      return found;
    },
  };
}
