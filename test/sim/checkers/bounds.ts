// Does any queue grow beyond its bound? The engine's stages, the worker's pool, and the ready URLs of a host where they are told.
import { limits } from "../../../schemas/limits.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";

/** Leases in a pool for each slot: one that runs, two that wait. */
const LEASES_PER_SLOT = 3;

/** A stage takes no more than stageElements, its own bundles included: who brings more waits, so there is no bundle on top. */
export function bounds(_facts: SimFacts): Checker {
  const violations = new Violations();
  const most = { queued: 0, held: 0, ready: 0 };
  const check = (what: string, value: number, bound: number): void => {
    if (value > bound) violations.add(`${what}: ${value} of ${bound}`);
  };
  return {
    name: "bounds",
    violations,
    figures: () => ({ queuedMost: most.queued, leasesHeldMost: most.held, readyMost: most.ready }),
    engine(stats, held = 0) {
      for (const [stage, { queued, queuedMax, running, settling }] of Object.entries(stats)) {
        most.queued = Math.max(most.queued, queuedMax);
        check(`${stage}: elements that waited`, Math.max(queued, queuedMax), limits.stageElements);
        check(`${stage}: bundles at work`, running, limits.stageElements);
        check(`${stage}: bundles to settle`, settling, 2 * limits.stageElements); // no bundle starts beyond one, all at work may end
      }
      most.held = Math.max(most.held, held);
      check("leases in the pool", held, LEASES_PER_SLOT * limits.fetchers);
    },
    frontier(ready) {
      most.ready = Math.max(most.ready, ready);
      check("URLs ready at a host", ready, limits.readyUrls);
    },
  };
}
