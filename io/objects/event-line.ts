// How does an event read as a line of JSON? Its own shape is asserted: a wrong one is our mistake, and would stay in the files for ever.
import assert from "node:assert";
import { type EventKind, type EventOf, eventShapes } from "../../schemas/events.ts";

/** Throws AssertionError where the event is not of its kind's shape. */
export function eventLine<K extends EventKind>(kind: K, event: EventOf<K>): string {
  assertEvent(kind, event);
  return JSON.stringify(event);
}

/** The same assertion without the line. */
export function assertEvent<K extends EventKind>(kind: K, event: EventOf<K>): void {
  const fault = eventShapes[kind].fault(event, "");
  assert(fault === undefined, `a ${kind} event that is none: ${fault}`);
}
