// Were more requests open at a host than it allows? An exchange is open from its arrival until it is over for the server.
import type { WireEntry } from "../wire.ts";
import { allowances } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";

const OPEN_KEPT = 64; // of one host: more than any agreement here, so that nothing is miscounted before it is reported

/** A worker that dies changes nothing: the server ends the exchange by itself, and until then it is open. */
export function concurrency({ config }: SimFacts): Checker {
  const violations = new Violations();
  const allowanceOf = allowances(config);
  const open = new Map<string, WireEntry[]>();
  return {
    name: "concurrency",
    violations,
    arrived(entry) {
      const others = (open.get(entry.host) ?? []).filter(({ endedAt }) => endedAt === undefined || endedAt > entry.at);
      const allowed = allowanceOf(entry.host).concurrency;
      if (others.length >= allowed) {
        const paths = others.map((other) => `${other.path} since ${entry.at - other.at} ms`).join(", ");
        violations.add(`${entry.host}${entry.path} at ${entry.at}: ${others.length + 1} open of ${allowed} (${paths})`);
      }
      others.push(entry);
      open.set(entry.host, others.slice(-OPEN_KEPT));
    },
  };
}
