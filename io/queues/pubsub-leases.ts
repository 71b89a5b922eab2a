// Which messages of a subscription does this process have, and which of them may be given? At least once: the same may come twice.
import type { QueueMessage } from "../../ports/queue.ts";

/** One delivery. */
export interface Delivery {
  ackId: string;
  messageId: string;
  /** As text. Beside the message id, since an emulator that lost its memory counts its ids from the start again. */
  publishedAt: string;
  body: Uint8Array;
  /** Deliveries so far, this one included; 0 where the service does not count. */
  attempts: number;
}

interface Lease {
  delivery: Delivery;
  /** Unix ms: until then its deadline is moved on. */
  until: number;
  given: boolean;
}

/** A lease is not kept longer: whoever took its message has lost it, and it may come to another. */
export const LEASE_MS_MAX = 10 * 60_000;

/** Acknowledged ones that are remembered, so that one which comes again is not given again. */
const DONE_MAX = 10_000;

/** Messages that are counted: one that is published and has not come within LEASE_MS_MAX went to another process. */
const KNOWN_MAX = 100_000;

export interface Leases {
  readonly size: number;
  /** Not given yet. */
  readonly waiting: number;
  /** Of all bodies. */
  readonly bytes: number;
  /** `new`: may be taken. `held`: we have it, and from now on by this ackId. `done`: was acknowledged here, and may be again. */
  add(delivery: Delivery, now: number): "new" | "held" | "done";
  take(max: number): QueueMessage[];
  /** The ackIds to send for the messages: they are not given again, whatever becomes of the call. */
  acknowledge(ids: readonly string[]): string[];
  /** Those of the messages that are held. */
  deliveries(ids: readonly string[]): Delivery[];
  /** The service has answered to that. */
  acknowledged(ids: readonly string[]): void;
  /** The ackIds of those that were given and still are. */
  release(ids: readonly string[]): string[];
  /** The ackIds whose deadline is to be moved; forgets the leases that end. */
  lasting(now: number): string[];
  /** Forgets all leases and tells their ackIds. */
  clear(): string[];
  /** The subscription is gone, and with it its leases and all that stood in it: ackIds would be misread by a new one of its name. */
  gone(): void;
  published(messageIds: readonly string[], now: number): void;
  /** Messages known of and not acknowledged. */
  known(now: number): number;
}

export function leases(): Leases {
  const held = new Map<string, Lease>();
  const turn = new Set<string>(); // of `held`, those to be given next
  const done = recent<string | undefined>(DONE_MAX); // their ackId while no answer has come
  const doneMessages = recent<true>(DONE_MAX); // the same by message id: an answer to a publish may come after all else
  const known = recent<number>(KNOWN_MAX); // message id to the time it is forgotten, oldest first
  let bytes = 0;

  function forget(id: string, lease: Lease): void {
    held.delete(id);
    turn.delete(id);
    bytes -= lease.delivery.body.length;
  }

  function clear(): string[] {
    const ackIds = [...held.values()].map((lease) => lease.delivery.ackId);
    for (const [id, lease] of held) forget(id, lease);
    return ackIds;
  }

  return {
    get size() {
      return held.size;
    },
    get waiting() {
      return turn.size;
    },
    get bytes() {
      return bytes;
    },
    add(delivery, now) {
      const id = idOf(delivery);
      if (done.has(id)) return "done";
      known.set(delivery.messageId, now + LEASE_MS_MAX);
      const lease = held.get(id);
      if (lease !== undefined) {
        lease.delivery.ackId = delivery.ackId;
        return "held";
      }
      held.set(id, { delivery, until: now + LEASE_MS_MAX, given: false });
      turn.add(id);
      bytes += delivery.body.length;
      return "new";
    },
    take(max) {
      const messages: QueueMessage[] = [];
      for (const id of turn) {
        if (messages.length >= max) break;
        turn.delete(id);
        const lease = held.get(id)!;
        lease.given = true;
        messages.push({ id, body: lease.delivery.body });
      }
      return messages;
    },
    acknowledge: (ids) =>
      ids.flatMap((id) => {
        const lease = held.get(id);
        const ackId = lease?.delivery.ackId ?? done.get(id);
        done.set(id, ackId);
        if (lease === undefined) return ackId ?? [];
        doneMessages.set(lease.delivery.messageId, true);
        forget(id, lease);
        return lease.delivery.ackId;
      }),
    deliveries: (ids) => ids.flatMap((id) => held.get(id)?.delivery ?? []),
    acknowledged(ids) {
      for (const id of ids) {
        if (done.has(id)) done.set(id, undefined);
        known.delete(messageIdOf(id));
      }
    },
    release: (ids) =>
      ids.flatMap((id) => {
        const lease = held.get(id);
        if (lease === undefined || !lease.given) return [];
        forget(id, lease);
        return lease.delivery.ackId;
      }),
    lasting(now) {
      for (const [id, lease] of held) if (lease.until <= now) forget(id, lease);
      return [...held.values()].map((lease) => lease.delivery.ackId);
    },
    clear,
    gone() {
      clear();
      known.clear();
    },
    published(messageIds, now) {
      for (const id of messageIds) if (!doneMessages.has(id)) known.set(id, now + LEASE_MS_MAX);
    },
    known(now) {
      for (const [id, until] of known.entries()) {
        if (until > now) break;
        known.delete(id);
      }
      return known.size;
    },
  };
}

/** What the port calls the message: its message id, then when it was published. */
function idOf({ messageId, publishedAt }: Pick<Delivery, "messageId" | "publishedAt">): string {
  return `${messageId}@${publishedAt}`;
}

function messageIdOf(id: string): string {
  return id.slice(0, id.lastIndexOf("@"));
}

interface Recent<V> extends Pick<Map<string, V>, "has" | "get" | "delete" | "entries" | "clear"> {
  readonly size: number;
  set(key: string, value: V): void;
}

/** A map of the `max` keys that were set last, in that order. */
function recent<V>(max: number): Recent<V> {
  const map = new Map<string, V>();
  return {
    has: (key) => map.has(key),
    get: (key) => map.get(key),
    delete: (key) => map.delete(key),
    entries: () => map.entries(),
    clear: () => map.clear(),
    get size() {
      return map.size;
    },
    set(key, value) {
      map.delete(key);
      map.set(key, value);
      if (map.size > max) map.delete(map.keys().next().value!);
    },
  };
}
