// Permission to try one URL inside a time window. It travels from HostFrontier to Fetch and decides nothing by itself.
import { oneOf, optional, struct, type TypeOf, text, uint } from "./codec.ts";
import { leaseKinds } from "./host-state.ts";
import { settledOutcomes } from "./reasons.ts";

export const fetchLease = struct({
  leaseId: text,
  /** For robots leases the id of the robots.txt URL, which has no UrlState. */
  urlId: text,
  url: text,
  version: uint,
  hostKey: text,
  paceKey: text,
  kind: oneOf(leaseKinds),
  /** Unix ms: not sent before, not begun after. */
  notBefore: uint,
  startBy: uint,
  attempt: uint,
  epoch: uint,
  /** The frontier expects no request, only the record's completion for this reason; the worker judges again. */
  settle: optional(oneOf(settledOutcomes)),
});

export type FetchLease = TypeOf<typeof fetchLease>;
