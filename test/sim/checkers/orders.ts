// Is an operator obeyed? No request to a host or pattern that is paused or excluded, 10 s after the order and for as long as it stands.
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import { names, OBEYED_MS, standing } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { isRobots } from "./robots-ledger.ts";
import { covers } from "./url-rules.ts";

/**
 * The crawl's own policies hold from the beginning. That what was resumed goes on, liveness tells: by the orders that stand at the end. A
 * store that is slow delays the reading of orders and the admit that was under way by as much.
 */
export function orders({ config, orders: given = [], storeMsMax = 0 }: SimFacts): Checker {
  const violations = new Violations();
  const obeyedMs = OBEYED_MS + storeMsMax + config.clockSkewMs;
  const forbidding = [config.policies, ...given.map(({ policies }) => policies.hosts)]
    .flat()
    .filter(({ paused, excluded }) => paused || excluded)
    .map(({ host }) => host);
  const named = new Set(forbidding);
  const everyHost = forbidding.some((host) => host.startsWith("*"));
  const figures = { ordersGiven: 0, requestsWhileOrdered: 0 };
  return {
    name: "orders",
    violations,
    figures: () => figures,
    arrived(entry) {
      if (!everyHost && !named.has(entry.host)) return;
      const { host, path, at, scheme } = entry;
      const url = `${scheme}//${host}${path}`;
      const states = standing(given, at - obeyedMs, at);
      const whys = states.map((order) =>
        forbids([...(order?.policies.hosts ?? []), ...config.policies], host, isRobots(entry) ? undefined : url),
      );
      figures.requestsWhileOrdered++;
      if (whys.every((why) => why !== undefined)) violations.add(`${host}${path} at ${at}: ${whys.at(-1)}`);
    },
    finish({ now }) {
      figures.ordersGiven = given.filter(({ at }) => at <= now).length;
    },
  };
}

/** Of the policies that match, the first that sets a field decides it; a pattern cannot lift what holds for the whole host. */
function forbids(policies: readonly HostPolicy[], host: string, url: string | undefined): string | undefined {
  const ours = policies.filter((policy) => names(policy.host, host));
  const whole = ours.filter(({ pattern }) => pattern === undefined);
  const decided = (field: "paused" | "excluded", among: readonly HostPolicy[]): boolean =>
    among.find((policy) => policy[field] !== undefined)?.[field] === true;
  for (const field of ["paused", "excluded"] as const) {
    if (decided(field, whole)) return `the host is ${field}`;
    if (url === undefined) continue; // robots.txt is of no pattern
    if (
      decided(
        field,
        ours.filter((policy) => covers(policy, url)),
      )
    )
      return `its pattern is ${field}`;
  }
  return undefined;
}
