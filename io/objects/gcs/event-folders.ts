// Where do the event files of the last days lie in a bucket? As folders and files that are read from their ends, as those of a data directory are.
import type { Clock } from "../../../ports/clock.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import type { FileLayer } from "../file-layer.ts";
import type { ObjectBucket } from "./bucket.ts";

const DAY_MS = 86_400_000;
/** A bucket has no folders to list, and years of events: what happened last is looked for in these days. */
const DAYS = 8;
const LINE_END = Buffer.from("\n");

/** `folder`: events. Paths are names of objects. */
export function eventFolders(folder: string, bucket: ObjectBucket, clock: Clock): Pick<FileLayer, "list" | "size" | "read"> {
  return {
    list: (path) => (path.startsWith(`${folder}/`) && path.includes("/dt=") ? objectsIn(bucket, path) : lastDays(clock.now())),
    async size(path) {
      const object = await bucket.describe(path);
      return object && object.bytes + LINE_END.length;
    },
    async read(path, from, length) {
      const bytes = await bucket.read(path, { from, length });
      if (bytes === undefined) throw new StoreError(`gs://${bucket.name}/${path} has gone while it was read`);
      // An object is whole: its last line ends with it.
      return bytes.length < length ? Buffer.concat([bytes, LINE_END]) : bytes;
    },
  };
}

async function objectsIn(bucket: ObjectBucket, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of bucket.list(`${folder}/`)) names.push(name.slice(folder.length + 1));
  return names;
}

async function lastDays(now: number): Promise<string[]> {
  const days = Array.from({ length: DAYS }, (_, back) => new Date(now - back * DAY_MS).toISOString().slice(0, 10));
  return days.reverse().map((day) => `dt=${day}`);
}
