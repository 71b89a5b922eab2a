// How do a day's event files become elements? Line by line, each checked against its shape; what is none is counted and left out.
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { oneOf, struct, type TypeOf, text } from "../../../schemas/codec.ts";
import { type EventKind, eventShapes, type FetchEvent } from "../../../schemas/events.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { DailyServices } from "../services.ts";
import { type CrawlSums, crawlSums } from "./sums.ts";

const kinds = Object.keys(eventShapes) as EventKind[];
const eventFile = struct({ kind: oneOf(kinds), name: text });

export const eventFiles: DoFnDefinition<Start, { files: typeof eventFile }, { day: string }, Pick<DailyServices, "files">> = {
  form: "each",
  name: "dailyEventFiles",
  input: start,
  outputs: { files: eventFile },
  make: ({ day }, { files }) => ({
    async process(_, context) {
      for (const kind of kinds)
        for (const { name } of await files.list(`events/${kind}/dt=${day}`))
          if (/\.ndjson(\.gz)?$/.test(name)) context.emit("files", { kind, name });
    },
  }),
};

/** Under what makes an event one: its lease, outcome and URL, its document's version, what was refused. */
const outputs = {
  fetches: keyed(eventShapes.fetch),
  documents: keyed(eventShapes.index),
  refusals: keyed(eventShapes.skip),
  crawl: keyed(crawlSums),
};

export const CRAWL = "crawl";

export const readEvents: DoFnDefinition<
  TypeOf<typeof eventFile>,
  typeof outputs,
  Record<never, never>,
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyReadEvents",
  input: eventFile,
  outputs,
  make: (_, { files }) => {
    const turn = fewAtOnce();
    return {
      process: ({ kind, name }, context) =>
        turn(async () => {
          let linesBad = 0;
          for await (const lines of files.lines(name))
            for (const line of lines) {
              const event = eventIn(kind, line);
              if (event === undefined) linesBad++;
              else if (event.kind === "fetch") context.emit("fetches", { key: attemptOf(event.value), value: event.value });
              else if (event.kind === "index")
                context.emit("documents", { key: `${event.value.urlId} ${event.value.docVersion}`, value: event.value });
              else context.emit("refusals", { key: `${event.value.reason} ${event.value.source ?? ""}`, value: event.value });
            }
          if (linesBad > 0) context.emit("crawl", { key: CRAWL, value: { linesBad } satisfies CrawlSums });
        }),
    };
  },
};

/** The hops of a robots.txt share a lease. */
function attemptOf({ leaseId, outcome, url }: FetchEvent): string {
  return `${leaseId} ${outcome} ${url}`;
}

type Event = { [K in EventKind]: { kind: K; value: TypeOf<(typeof eventShapes)[K]> } }[EventKind];

function eventIn(kind: EventKind, line: string): Event | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return eventShapes[kind].fault(value, "") === undefined ? ({ kind, value } as Event) : undefined;
  } catch {
    return undefined;
  }
}
