// Messages from one stage to an earlier one: the way the loop of the crawl closes. At least once, in no promised order.

export interface QueueMessage {
  id: string;
  body: Uint8Array;
}

/**
 * Operations reject with StoreError. A queue of this process answers at once: what was published or released can be pulled when its call has
 * resolved. A queue of a service brings it within seconds, and onArrival tells when.
 */
export interface Queue {
  /** Resolves when all bodies are durable. Where it rejects, some may be: who publishes again, publishes twice. */
  publish(bodies: readonly Uint8Array[]): Promise<void>;
  /**
   * Up to `max` messages that nobody else holds; none where none is at hand: it does not wait for one. Held until acknowledged, released, or the
   * process ends; a service lends them for a bounded time, after which they come again, here or elsewhere.
   */
  pull(max: number): Promise<QueueMessage[]>;
  /** Resolves when they will not come again; a service may lose that, so that one comes again all the same. Unknown ids are no error. */
  acknowledge(ids: readonly string[]): Promise<void>;
  /** They may be pulled again, at once where the queue answers at once. */
  release(ids: readonly string[]): Promise<void>;
  /** Nobody can use them: they do not come again, and are kept where people can look at them, for as long as the queue keeps anything. */
  setAside(ids: readonly string[]): Promise<void>;
  /**
   * At least the messages that this process knows of: those it published and those it was given, until it has acknowledged them. A queue that
   * belongs to this process alone counts all that stand in it; one of a service may forget those that have not come to this process for
   * minutes, since another may have them, and cannot know what others published. So 0 says that nothing of ours is under way.
   */
  depth(): Promise<number>;
  /** Calls `wake` when something may have come; a hint. Returns a function that ends it. */
  onArrival(wake: () => void): () => void;
}
