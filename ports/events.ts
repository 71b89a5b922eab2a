// Events leave through here; at least once.
import type { EventKind, EventOf } from "../schemas/events.ts";

export interface Events {
  /** Resolves when they are durable. Rejects with StoreError. */
  publish<K extends EventKind>(kind: K, events: readonly EventOf<K>[]): Promise<void>;
  close(): Promise<void>;
}
