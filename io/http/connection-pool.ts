// Which connections are kept for the next request to their server?
import type { Clock } from "../../ports/clock.ts";
import { limits } from "../../schemas/limits.ts";
import type { Connection } from "./connection.ts";

export interface ConnectionPool {
  /** The connection of this key that was used last, if one still stands. */
  take(key: string): Connection | undefined;
  /** Keeps it for limits.keepAliveMs; ends the one that idles longest where there are too many. */
  keep(connection: Connection): void;
  /** Ends those that idle longest, half of them and one at least: their file handles are needed. */
  shed(): void;
  /** Ends all that idle, and from now on those that would be kept. Resolves when their sockets are closed. */
  close(): Promise<void>;
}

export function connectionPool(clock: Clock, kept: number = limits.keptConnections): ConnectionPool {
  const idle = new Map<Connection, () => void>(); // in the order of keeping; the value takes it out
  const byKey = new Map<string, Set<Connection>>();
  let closed = false;

  function insert(connection: Connection): void {
    const takeOut = () => {
      cancel();
      connection.socket.off("close", takeOut);
      idle.delete(connection);
      same.delete(connection);
      if (same.size === 0) byKey.delete(connection.key);
    };
    const same = byKey.get(connection.key) ?? new Set();
    byKey.set(connection.key, same.add(connection));
    idle.set(connection, takeOut);
    connection.socket.once("close", takeOut);
    const cancel = clock.after(limits.keepAliveMs, () => end(connection));
  }
  function end(connection: Connection): void {
    idle.get(connection)?.();
    connection.end();
  }

  return {
    take(key) {
      for (;;) {
        const connection = [...(byKey.get(key) ?? [])].at(-1);
        if (connection === undefined) return undefined;
        idle.get(connection)?.();
        if (connection.alive()) return connection;
        connection.end();
      }
    },
    keep(connection) {
      if (closed || !connection.alive()) {
        connection.end();
        return;
      }
      insert(connection);
      if (idle.size > kept) end(idle.keys().next().value!);
    },
    shed() {
      for (const connection of [...idle.keys()].slice(0, Math.ceil(idle.size / 2))) end(connection);
    },
    async close() {
      closed = true;
      const ends = [...idle.keys()].map((connection) => {
        const ended = new Promise<void>((resolve) => connection.socket.once("close", () => resolve()));
        end(connection);
        return ended;
      });
      await Promise.all(ends);
    },
  };
}
