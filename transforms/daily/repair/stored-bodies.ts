// Does every stored body have a reference, and every reference its body? Indexes of segments and the content table, joined segment by segment.
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition } from "../../../beam/dofn.ts";
import { cdxjPlace } from "../../../core/warc/cdxj.ts";
import { struct, type TypeOf, text, uint, union } from "../../../schemas/codec.ts";
import { afterPrefix, type KeyRange } from "../../../schemas/row-key.ts";
import type { SegmentPlace } from "../../../schemas/segment.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { Findings, findings } from "./findings.ts";

/** Under the segment's name, dt=…/segment-….warc.gz. */
const bodyPlace = union({
  stored: struct({ offset: uint }),
  referred: struct({ offset: uint }),
});
type BodyPlace = TypeOf<typeof bodyPlace>;

const outputs = { places: keyed(bodyPlace) };
const indexFile = struct({ name: text });

/** The indexes of the segments that were begun on the day. */
export const segmentIndexes: DoFnDefinition<
  Start,
  { indexes: typeof indexFile },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailySegmentIndexes",
  input: start,
  outputs: { indexes: indexFile },
  make: ({ day }, { files }) => ({
    async process(_, context) {
      for (const { name } of await files.list(`${PAGES}/dt=${day}`))
        if (name.endsWith(INDEX)) context.emit("indexes", { name });
    },
  }),
};

const PAGES = "pages";
const INDEX = ".cdxj";
const SEGMENT = ".warc.gz";
const REVISIT = '"mime":"warc/revisit"'; // it has no body of its own

/** A segment that was begun on the day may go on for an hour. What is stored after the day's end is left out on both sides: its reference may be on its way. */
export const storedBodies: DoFnDefinition<
  TypeOf<typeof indexFile>,
  typeof outputs,
  { asOf: number },
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyStoredBodies",
  input: indexFile,
  outputs,
  make: ({ asOf }, { files }) => {
    const turn = fewAtOnce();
    const end = timestamp14(asOf);
    return {
      process: ({ name }, context) =>
        turn(async () => {
          const key = name.slice(PAGES.length + 1, -INDEX.length) + SEGMENT;
          for await (const lines of files.lines(name))
            for (const line of lines) {
              const place = cdxjPlace(line);
              if (place === undefined || line.includes(REVISIT) || timestampOf(line) >= end) continue;
              context.emit("places", { key, value: { kind: "stored", offset: place.offset } });
            }
        }),
    };
  },
};

/** YYYYMMDDhhmmss, UTC: as an index tells time, to be compared as text. */
function timestamp14(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace(/[-T:]/g, "");
}

function timestampOf(line: string): string {
  const from = line.indexOf(" ") + 1;
  return line.slice(from, line.indexOf(" ", from));
}

/** References to segments of the day; the keys of the content table are hashes, which begin as the ranges do. */
export const references: DoFnDefinition<
  KeyRange,
  typeof outputs,
  { day: string; asOf: number },
  Pick<DailyServices, "tables" | "segments">
> = {
  form: "each",
  name: "dailyReferences",
  input: keyRange,
  outputs,
  make: ({ day, asOf }, { tables, segments }) => {
    const turn = fewAtOnce();
    return {
      process: ({ part }, context) =>
        turn(async () => {
          for await (const rows of rowsOf(tables.content, { part, from: part, to: afterPrefix(part) })) {
            const ofDay = rows.filter(({ value }) => value.segment.startsWith(`dt=${day}/`) && value.storedAt < asOf);
            const moved = await movedSegments(
              segments,
              ofDay.map(({ value }) => value.segment),
            );
            for (const { value } of ofDay) {
              const { object, base } = moved.get(value.segment) ?? { object: value.segment, base: 0 };
              context.emit("places", { key: object, value: { kind: "referred", offset: base + value.offset } });
            }
          }
        }),
    };
  },
};

/** Those that were composed into larger ones, with where they lie there. */
async function movedSegments(
  segments: DailyServices["segments"],
  named: readonly string[],
): Promise<Map<string, SegmentPlace>> {
  if (segments === undefined || named.length === 0) return new Map();
  const names = [...new Set(named)];
  const places = await segments.get(names);
  return new Map(names.flatMap((name, at) => (places[at] === undefined ? [] : [[name, places[at].value]])));
}

/** A segment has a gibibyte at most, and so some 100,000 bodies: their offsets are in memory together. */
export const joinBodies: GroupedDefinition<BodyPlace, { findings: typeof findings }, Record<never, never>, unknown> = {
  form: "grouped",
  name: "dailyJoinBodies",
  input: bodyPlace,
  outputs: { findings },
  make: () => ({
    async process(segment, values, context) {
      const places = { stored: new Set<number>(), referred: new Set<number>() };
      for await (const { kind, offset } of values) places[kind].add(offset);
      const { stored, referred } = places;
      const found = new Findings();
      for (const offset of stored)
        if (!referred.has(offset)) found.add("body-without-reference", `${segment} at ${offset}`, false);
      for (const offset of referred)
        if (!stored.has(offset)) found.add("reference-without-body", `${segment} at ${offset}`, false);
      found.emitTo(context);
    },
  }),
};
