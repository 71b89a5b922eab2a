// Messages from one stage to an earlier one: the way the loop of the crawl closes. At least once, in no promised order.

export interface QueueMessage {
  id: string;
  body: Uint8Array;
}

export interface Queue {
  /** Resolves when all bodies are durable. */
  publish(bodies: readonly Uint8Array[]): Promise<void>;
  /** Up to `max` messages that nobody else holds; none where there is none. Held until acknowledged, released, or the process ends. */
  pull(max: number): Promise<QueueMessage[]>;
  /** Resolves when they will not come again. */
  acknowledge(ids: readonly string[]): Promise<void>;
  /** They may be pulled again at once. */
  release(ids: readonly string[]): Promise<void>;
  /** Messages that stand in the queue, held ones included. */
  depth(): Promise<number>;
  /** Calls `wake` when something may have come; a hint. Returns a function that ends it. */
  onArrival(wake: () => void): () => void;
}
