// A queue in memory: what closes the loop of a simulated or short crawl. Each operation is done when its call returns.
import type { Queue, QueueMessage } from "../../ports/queue.ts";
import { arrivals } from "./arrivals.ts";
import { checkedBody } from "./checked-body.ts";

/** Answers with microtasks alone. First in, first out; a released message goes to the end. */
export function memoryQueue(): Queue {
  const bodies = new Map<string, Uint8Array>(); // of all that stand in the queue
  const held = new Set<string>();
  const turn = turns();
  const arrived = arrivals();
  let published = 0;

  return {
    async publish(added) {
      for (const body of added.map(checkedBody)) {
        const id = String(++published);
        bodies.set(id, body);
        turn.add(id);
      }
      if (added.length > 0) arrived.tell();
    },
    async pull(max) {
      const messages: QueueMessage[] = [];
      while (messages.length < max) {
        const id = turn.next();
        if (id === undefined) break;
        const body = bodies.get(id);
        if (body === undefined) continue; // acknowledged while it waited
        held.add(id);
        messages.push({ id, body: new Uint8Array(body) });
      }
      return messages;
    },
    async acknowledge(ids) {
      for (const id of ids) {
        held.delete(id);
        bodies.delete(id);
      }
    },
    async setAside(ids) {
      // What is kept in memory is kept by nobody when the process ends.
      for (const id of ids) {
        held.delete(id);
        bodies.delete(id);
      }
    },
    async release(ids) {
      const returned = ids.filter((id) => held.delete(id));
      for (const id of returned) turn.add(id);
      if (returned.length > 0) arrived.tell();
    },
    async depth() {
      return bodies.size;
    },
    onArrival: arrived.on,
  };
}

const TAKEN_MAX = 1024; // places that were taken and still fill the list's front

/** A list taken from its front; a Map would do, but walks over its deleted entries at each look. */
function turns(): { add(id: string): void; next(): string | undefined } {
  const ids: string[] = [];
  let taken = 0;
  return {
    add: (id) => void ids.push(id),
    next() {
      if (taken > TAKEN_MAX && taken * 2 > ids.length) {
        ids.splice(0, taken);
        taken = 0;
      }
      return taken < ids.length ? ids[taken++] : undefined;
    },
  };
}
