// Where do analysts find what happened? events/<kind>/dt=YYYY-MM-DD/part-….ndjson, a JSON object a line.
import { join } from "node:path";
import type { Lines } from "../../ports/archive.ts";
import type { Events } from "../../ports/events.ts";
import { type EventKind, eventShapes } from "../../schemas/events.ts";
import { eventLine } from "./event-line.ts";
import { type FileLinesOptions, fileLines } from "./lines-files.ts";

export type FileEventsOptions = Omit<FileLinesOptions, "gzip">;

/** `folder` is …/events. Repairs what an earlier run left. Rejects with StoreError. */
export async function fileEvents(options: FileEventsOptions): Promise<Events> {
  const kinds = Object.keys(eventShapes) as EventKind[];
  const lines = new Map<EventKind, Lines>();
  for (const kind of kinds) lines.set(kind, await fileLines({ ...options, folder: join(options.folder, kind), gzip: false }));
  return {
    publish: async (kind, events) => lines.get(kind)!.append(events.map((event) => eventLine(kind, event))),
    async close() {
      await Promise.all([...lines.values()].map((each) => each.close()));
    },
  };
}
