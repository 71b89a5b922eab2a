// Which rules is every simulated run held to? All checkers, for one run; none of them is used for a second.
import { addresses } from "./addresses.ts";
import { bounds } from "./bounds.ts";
import { budgets } from "./budgets.ts";
import type { Checker, SimFacts } from "./checker.ts";
import { completions } from "./completions.ts";
import { concurrency } from "./concurrency.ts";
import { conservation } from "./conservation.ts";
import { duplicates } from "./duplicates.ts";
import { indexEvents } from "./index-events.ts";
import { liveness } from "./liveness.ts";
import { orders } from "./orders.ts";
import { pace } from "./pace.ts";
import { promptness } from "./promptness.ts";
import { reparse } from "./reparse.ts";
import { retryAfter } from "./retry-after.ts";
import { robots } from "./robots.ts";
import { traps } from "./traps.ts";

export function allCheckers(facts: SimFacts): Checker[] {
  return [
    pace(facts),
    concurrency(facts),
    robots(facts),
    retryAfter(facts),
    addresses(),
    conservation(facts),
    indexEvents(facts),
    duplicates(facts),
    completions(facts),
    budgets(facts),
    traps(facts),
    orders(facts),
    reparse(facts),
    bounds(facts),
    promptness(facts),
    liveness(facts),
  ];
}
