// What happened last, as the event files tell? Lines of events/<kind>/dt=…/part-….ndjson, newest first, as far back as is asked for.
import { join } from "node:path";
import { StoreError } from "../../ports/versioned-table.ts";
import { type EventKind, type EventOf, eventShapes } from "../../schemas/events.ts";
import type { FileLayer } from "./file-layer.ts";

export interface ReadEvents<K extends EventKind> {
  /** …/events. */
  folder: string;
  files: Pick<FileLayer, "list" | "size" | "read">;
  kind: K;
  /** Lines without this text are passed over unparsed, so it should be as good as the event's name: an id or URL as JSON spells it. */
  holding: string;
  wanted: (event: EventOf<K>) => boolean;
  /** At most so many events. */
  max: number;
  /** Bytes looked through in all. */
  bytesMax?: number;
}

export interface ReadBack<E> {
  /** Newest first. */
  events: E[];
  /** False where bytesMax ended the look before `max` events or the oldest file were reached. */
  complete: boolean;
}

const BYTES_MAX = 256 * 1024 * 1024; // about half a second of a warm disk, some 600,000 fetches
const CHUNK_BYTES = 1024 * 1024; // read at a time

/** Whether a crawl writes there or not: only whole lines are read, and what is no event of the kind is passed over. Rejects with StoreError. */
export async function readEvents<K extends EventKind>(options: ReadEvents<K>): Promise<ReadBack<EventOf<K>>> {
  const { folder, files, kind, holding, wanted, max, bytesMax = BYTES_MAX } = options;
  const events: EventOf<K>[] = [];
  const budget = { left: bytesMax };
  try {
    for await (const line of linesBackwards(join(folder, kind), files, budget)) {
      if (!line.includes(holding)) continue;
      const event = parsed(kind, line);
      if (event === undefined || !wanted(event)) continue;
      events.push(event);
      if (events.length >= max) return { events, complete: true };
    }
  } catch (cause) {
    throw new StoreError(`cannot read the events in ${folder}`, { cause });
  }
  return { events, complete: budget.left > 0 };
}

function parsed<K extends EventKind>(kind: K, line: string): EventOf<K> | undefined {
  try {
    const event: unknown = JSON.parse(line);
    return eventShapes[kind].fault(event, "") === undefined ? (event as EventOf<K>) : undefined;
  } catch {
    return undefined;
  }
}

interface Budget {
  left: number;
}

/** Parts are named by the time they were begun, and one is written at a time. */
async function* linesBackwards(folder: string, files: ReadEvents<EventKind>["files"], budget: Budget): AsyncGenerator<string> {
  const days = (await files.list(folder)).filter((name) => name.startsWith("dt="));
  for (const day of days.reverse()) {
    const parts = (await files.list(join(folder, day))).filter((name) => name.endsWith(".ndjson"));
    for (const part of parts.reverse()) yield* partBackwards(join(folder, day, part), files, budget);
  }
}

const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

async function* partBackwards(path: string, files: ReadEvents<EventKind>["files"], budget: Budget): AsyncGenerator<string> {
  let end = (await files.size(path)) ?? 0;
  let rest = NOTHING; // the end of a line whose beginning is not read yet
  let whole = false; // what follows the last line's end may still be written
  while (end > 0 && budget.left > 0) {
    const from = Math.max(0, end - CHUNK_BYTES);
    const bytes = await files.read(path, from, end - from);
    budget.left -= end - from;
    end = from;
    let before = bytes.length;
    for (let at = bytes.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1)) {
      if (whole) yield Buffer.concat([bytes.subarray(at + 1, before), rest]).toString();
      whole = true;
      rest = NOTHING;
      before = at;
    }
    rest = Buffer.concat([bytes.subarray(0, before), rest]);
    if (rest.length > CHUNK_BYTES) whole = false; // no line of ours is as long: damage, passed over up to the line's beginning
    if (!whole) rest = NOTHING;
  }
  if (end === 0 && whole && rest.length > 0) yield rest.toString();
}
