// What does a repair find? A closed list of kinds, each with how many there were and how many of them are mended.
import { list, oneOf, struct, type TypeOf, text, uint } from "../codec.ts";
import type { DayTable } from "./day-table.ts";

export const repairKinds = [
  "due-missing", // a record without the due entry that it calls for: put
  "due-without-url", // an entry without a record: dropped
  "due-outdated", // an entry that says otherwise than its record: dropped
  "due-move-unfinished", // a record whose due entry was being moved: moved, or left to whoever publishes its index event
  "index-event-unfinished", // a record whose index event was not published: its host's next turn, the next visit or start of the crawl does it
  "flight-expired", // a request that was never heard of again: taken for an answer of 503, as an admit does
  "host-without-turn", // a host with due URLs that its sweep would not find: found again
  "body-without-reference", // a stored body that nothing refers to: it stays, and costs its bytes
  "reference-without-body", // a reference to what does not stand
  "url-without-reference", // a record whose body nothing refers to: the next visit stores it
] as const;
export type RepairKind = (typeof repairKinds)[number];

const repairRow = struct({
  kind: oneOf(repairKinds),
  found: uint,
  mended: uint,
  samples: list(text),
});
export type RepairRow = TypeOf<typeof repairRow>;

export const repairReport: DayTable<RepairRow> = {
  name: "repair-report",
  version: 1,
  row: repairRow,
  words: {
    kind: "What is not as it should be; docs/daily.md tells what each is.",
    found: "How many there were.",
    mended: "How many of them are mended; the others are mended elsewhere, or cost nothing.",
    samples: "Up to three of them.",
  },
};
