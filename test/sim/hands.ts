// What does a worker have in its hands? The messages it took and did not acknowledge, which come again when it dies.
import type { Queue } from "../../ports/queue.ts";

export interface Hands {
  /** The same queue, noting what is taken of it. */
  noting(queue: Queue): Queue;
  /** Keeps what ends a listening of the worker. */
  listens(end: () => void): void;
  /** All messages go back to their queues. */
  giveBack(): void;
  /** It listens no more. */
  endListening(): void;
}

export function emptyHands(): Hands {
  const held = new Map<Queue, Set<string>>();
  const ends: (() => void)[] = [];
  return {
    noting(queue) {
      const ids = new Set<string>();
      held.set(queue, ids);
      return {
        ...queue,
        pull: (max) =>
          queue.pull(max).then((messages) => {
            for (const { id } of messages) ids.add(id);
            return messages;
          }),
        acknowledge(done) {
          for (const id of done) ids.delete(id);
          return queue.acknowledge(done);
        },
        setAside(unusable) {
          for (const id of unusable) ids.delete(id);
          return queue.setAside(unusable);
        },
      };
    },
    listens: (end) => void ends.push(end),
    giveBack() {
      for (const [queue, ids] of held) {
        void queue.release([...ids]);
        ids.clear();
      }
    },
    endListening() {
      for (const end of ends) end();
    },
  };
}
