// What does a crawl in the cloud keep of itself, where one on a machine has files and a folder? Small texts by name, in a versioned table.

import type { Random } from "../../ports/random.ts";
import { StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import { limits } from "../../schemas/limits.ts";

export interface Meta {
  get(name: string): Promise<string | undefined>;
  /** Puts `make(what stands)` in its place; what others write meanwhile is seen first. `make` may be called more than once. Gives the new text. */
  change(name: string, make: (before: string | undefined) => string): Promise<string>;
}

export function tableMeta(table: VersionedTable, random: Random): Meta {
  return {
    async get(name) {
      return textOf(await standing(table, name));
    },
    async change(name, make) {
      for (let round = 0; round < limits.casTries; round++) {
        const before = await standing(table, name);
        const text = make(textOf(before));
        const row = { key: name, rev: random.token(), value: Buffer.from(text) };
        const written =
          before === undefined ? (await table.insertIfAbsent([row]))[0] : await table.compareAndSet(row, before.rev);
        if (written) return text;
      }
      throw new StoreError(`'${name}' was written by others ${limits.casTries} times in a row`);
    },
  };
}

async function standing(table: VersionedTable, name: string) {
  return (await table.get([name]))[0];
}

function textOf(row: { value: Uint8Array } | undefined): string | undefined {
  return row && Buffer.from(row.value).toString();
}

/** One of these texts as pipelines/orders.ts reads and changes a file. */
export function metaText(meta: Meta, name: string) {
  let seen: string | undefined | null = null;
  return {
    path: name,
    read: () => meta.get(name),
    async changed() {
      const text = await meta.get(name);
      if (text === seen) return undefined;
      seen = text;
      return { text };
    },
    async change(make: (text: string | undefined) => string) {
      await meta.change(name, make);
    },
  };
}
