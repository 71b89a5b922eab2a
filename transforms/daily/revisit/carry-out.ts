// How does the schedule come into the records? Part by part as it was written down; a record that moved on meanwhile keeps what it says.

import { type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { struct, type TypeOf, text } from "../../../schemas/codec.ts";
import { tableFolder } from "../../../schemas/daily/day-table.ts";
import { rescheduled, revisitSchedule, type ScheduleRow } from "../../../schemas/daily/revisit.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { lowerHostDue } from "../../due-index.ts";
import { patiently } from "../../patience.ts";
import { noPart, tableParts } from "../close-table.ts";
import { partOf, writeDayPart } from "../day-part.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { reschedule } from "../reschedule.ts";
import type { DailyServices } from "../services.ts";

const schedulePart = struct({ part: text, name: text });

/** The files of the day's schedule, which is closed. */
export const scheduleParts: DoFnDefinition<
  Start,
  { files: typeof schedulePart; parts: typeof tableParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyScheduleParts",
  input: start,
  outputs: { files: schedulePart, parts: tableParts },
  make: ({ day }, { files }) => ({
    async process(_, context) {
      context.emit("parts", { key: rescheduled.name, value: noPart });
      for (const { name } of await files.list(tableFolder(day, revisitSchedule))) {
        const part = partOf(name);
        if (part !== undefined) context.emit("files", { part, name });
      }
    },
  }),
};

type CarryOutServices = Pick<DailyServices, "tables" | "files" | "live" | "clock">;

/** May be done twice: what stands already is counted as moved. */
export const carryOutSchedule: DoFnDefinition<
  TypeOf<typeof schedulePart>,
  { parts: typeof tableParts },
  { day: string },
  CarryOutServices
> = {
  form: "each",
  name: "dailyCarryOutSchedule",
  input: schedulePart,
  outputs: { parts: tableParts },
  make: ({ day }, services) => {
    const turn = fewAtOnce();
    return {
      process: ({ part, name }, context) =>
        turn(async () => {
          const rows = [{ part, ...(await carriedOut(services, name)) }];
          const file = await writeDayPart(services.files, { day, table: rescheduled, part, rows });
          context.emit("parts", { key: rescheduled.name, value: file });
        }),
    };
  },
};

async function carriedOut(services: CarryOutServices, name: string): Promise<{ moved: number; superseded: number }> {
  let [moved, superseded] = [0, 0];
  for await (const lines of services.files.lines(name))
    for (let at = 0; at < lines.length; at += AT_ONCE) {
      const rows = lines.slice(at, at + AT_ONCE).map((line) => JSON.parse(line) as ScheduleRow);
      const stands = await patiently(services, () => carryOut(services, rows));
      moved += stands;
      superseded += rows.length - stands;
    }
  return { moved, superseded };
}

const AT_ONCE = 256; // records under way, so that many share a commit

/** How many of the records now say what the schedule says. */
async function carryOut(services: CarryOutServices, rows: readonly ScheduleRow[]): Promise<number> {
  const { tables, live } = services;
  const keys = rows.map(({ paceKey, urlId }) => rowKey(paceKey, urlId));
  const found = await tables.urls.get(keys);
  const stands = await Promise.all(
    rows.map(async ({ version, dueBefore, dueAt }, index) => {
      const row = found[index];
      if (row === undefined || row.value.version !== version) return false;
      if (row.value.nextFetchAt === dueAt) return true;
      return row.value.nextFetchAt === dueBefore && reschedule(services, { ...row, key: keys[index]! }, dueAt);
    }),
  );
  const earliest = new Map<string, number>();
  for (const [index, { paceKey, dueAt }] of rows.entries())
    if (stands[index]) earliest.set(paceKey, Math.min(dueAt, earliest.get(paceKey) ?? dueAt));
  const shards = live.now().sweepShards;
  await Promise.all([...earliest].map(([paceKey, dueAt]) => lowerHostDue(tables.hostDue, paceKey, shards, dueAt)));
  return stands.filter(Boolean).length;
}
