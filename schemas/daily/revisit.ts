// What does the daily pipeline say of revisits? The budget of each host, and each URL whose due time it moves.
import { oneOf, optional, struct, type TypeOf, text, uint } from "../codec.ts";
import type { DayTable } from "./day-table.ts";

/** What the pages of a host want, and what it may be asked for on the day after. */
export const hostBudgetRow = struct({
  paceKey: text,
  /** URLs known, of those the ones that were never fetched. */
  urls: uint,
  undiscovered: uint,
  /** Visits a day that its pages want, in thousandths. */
  wantedMilli: uint,
  /** Revisits of a day, at most. */
  capacity: uint,
  /** Pages with a lower score wait, where they want more than there is room for: millionths of a day of freshness. */
  thresholdMicro: optional(uint),
});
export type HostBudgetRow = TypeOf<typeof hostBudgetRow>;

const revisitReasons = ["wanted", "within-budget", "over-budget"] as const;

/** A URL that is to be visited at another time than its record says. */
export const scheduleRow = struct({
  urlId: text,
  paceKey: text,
  url: text,
  /** Of the record that was judged: a fetch since then wins. */
  version: uint,
  tier: text,
  /** Changes in a million days. */
  changesMicro: uint,
  /** Millionths of a day of freshness; absent: it was fetched since the planned day began. */
  scoreMicro: optional(uint),
  reason: oneOf(revisitReasons),
  /** The interval that its changes want. */
  wantedHours: uint,
  /** Unix ms. */
  dueBefore: uint,
  dueAt: uint,
});
export type ScheduleRow = TypeOf<typeof scheduleRow>;

/** What became of the schedule, one row a part of it. */
export const rescheduledRow = struct({
  part: text,
  /** Records that now say what the schedule says. */
  moved: uint,
  /** Fetched, or moved by others, in between. */
  superseded: uint,
});
export type RescheduledRow = TypeOf<typeof rescheduledRow>;

export const hostBudgets: DayTable<HostBudgetRow> = {
  name: "host-budgets",
  version: 1,
  row: hostBudgetRow,
  words: {
    paceKey: "Whose clock; a host name, with its port where that is not the scheme's.",
    urls: "URLs that are known of it.",
    undiscovered: "Of those, the ones that were never fetched.",
    wantedMilli: "Visits a day that its pages want, in thousandths.",
    capacity: "Revisits that it may be asked for on a day, by its clock and budgets.",
    thresholdMicro:
      "Where more is wanted than there is room for: the score below which pages wait, in millionths of a day of freshness.",
  },
};

export const revisitSchedule: DayTable<ScheduleRow> = {
  name: "revisit-schedule",
  version: 1,
  row: scheduleRow,
  words: {
    urlId: "128 bits of the canonical URL's hash.",
    paceKey: "Whose clock it waits for.",
    url: "The canonical URL.",
    version: "Completions of the record that was judged.",
    tier: "A: wants a visit within 2 days; B: 7; C: 15; D: 30.",
    changesMicro: "Changes in a million days, estimated from its visits.",
    scoreMicro: "What a visit is worth on the planned day, in millionths of a day of freshness.",
    reason: "Why then: its changes want it, or its score is, or is not, among those that the day has room for.",
    wantedHours: "The interval that its changes want.",
    dueBefore: "When it was due before, Unix ms.",
    dueAt: "When it is due now, Unix ms.",
  },
};

export const rescheduled: DayTable<RescheduledRow> = {
  name: "rescheduled",
  version: 1,
  row: rescheduledRow,
  words: {
    part: "The part of the schedule.",
    moved: "Records that now say what the schedule says.",
    superseded: "Records that were fetched or moved by others in between.",
  },
};
