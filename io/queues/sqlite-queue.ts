// A queue in the store of a data folder: messages are durable by the shared commit, and come again after a restart until acknowledged.
import type { Queue } from "../../ports/queue.ts";
import { wholeCount } from "../stores/checks.ts";
import type { StoreThread } from "../stores/sqlite-thread.ts";
import { arrivals } from "./arrivals.ts";
import { checkedBody } from "./checked-body.ts";

/** Oldest first, released ones before them. */
export function sqliteQueue(thread: StoreThread, queue: string): Queue {
  const arrived = arrivals();
  return {
    async publish(bodies) {
      if (bodies.length === 0) return;
      await thread.ask({ operation: "publish", queue, bodies: bodies.map(checkedBody) });
      arrived.tell();
    },
    async pull(max) {
      return thread.ask({ operation: "pull", queue, max: wholeCount(max) });
    },
    async acknowledge(ids) {
      if (ids.length > 0) await thread.ask({ operation: "acknowledge", queue, ids: [...ids] });
    },
    async setAside(ids) {
      if (ids.length > 0) await thread.ask({ operation: "setAside", queue, ids: [...ids] });
    },
    async release(ids) {
      if (ids.length === 0) return;
      await thread.ask({ operation: "release", queue, ids: [...ids] });
      arrived.tell();
    },
    async depth() {
      return thread.ask({ operation: "depth", queue });
    },
    onArrival: arrived.on,
  };
}
