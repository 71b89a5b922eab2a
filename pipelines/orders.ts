// What has an operator ordered of hosts while the crawl runs? Host policies beside the records of the crawl, read again every few seconds.
import { join } from "node:path";
import { type ReplacedFile, replacedFile } from "../io/replaced-file.ts";
import type { HostPolicies } from "../schemas/crawl-config.ts";
import { parsePolicies } from "./policy-file.ts";

export interface Orders {
  /** Of the file as it stands; version 0 where nothing was ever ordered. Rejects with UsageError where it is malformed, or StoreError. */
  read(): Promise<HostPolicies>;
  /** The same, where that may have changed since the last such call; the first gives what there is. */
  changed(): Promise<HostPolicies | undefined>;
  /** The orders after it, with the next version; durable when it resolves. */
  change(make: (before: HostPolicies) => HostPolicies["hosts"]): Promise<HostPolicies>;
}

const NONE: HostPolicies = { version: 0, hosts: [] };

/** A text that is read and replaced as a whole: a file of a data directory, or a row in the cloud. */
export type OrdersText = Pick<ReplacedFile, "path" | "read" | "changed" | "change">;

export function ordersIn(folder: string): Orders {
  return ordersOver(replacedFile(join(folder, "host-policies.json")));
}

export function ordersOver(file: OrdersText): Orders {
  const parsed = (text: string | undefined): HostPolicies =>
    text === undefined ? NONE : parsePolicies(text, file.path, file.path);
  return {
    read: async () => parsed(await file.read()),
    async changed() {
      const found = await file.changed();
      return found && parsed(found.text);
    },
    async change(make) {
      let after = NONE;
      await file.change((text) => {
        const before = parsed(text);
        after = { version: before.version + 1, hosts: make(before) };
        const written = `${JSON.stringify(after, undefined, 2)}\n`;
        parsed(written); // what a crawl could not read is not written
        return written;
      });
      return after;
    },
  };
}
