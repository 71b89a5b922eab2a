// What does it cost a day to keep what a crawl has written so far? Each byte by its age: classes of Cloud Storage, records, events.
import { limits } from "../../../schemas/limits.ts";
import type { Running } from "./bill.ts";
import { assumed, measured } from "./figures.ts";
import type { Choices } from "./flows.ts";
import { gib, MONTH_DAYS } from "./units.ts";

/** From that age on, days; US dollars a GiB and month. */
export interface Step {
  fromDay: number;
  usdPerGibMonth: number;
}

/** US dollars a day, all that the crawl's days have left behind. */
export interface Kept {
  records: number;
  pages: number;
  documents: number;
  indexes: number;
  /** In BigQuery. */
  eventRows: number;
  /** In the bucket; a file each five minutes is moved for next to nothing. */
  eventFiles: number;
}

export function dayOfKeeping(running: Running): Kept {
  const { fetches, fetch, prices, choices } = running;
  const days = choices.crawlDays;
  const daily = (bytes: number): number => gib(fetches * bytes);
  return {
    records: dayOf(records(fetches, days)) * prices.bigtableSsdMonth,
    pages: keptUsd(daily(fetch.pagesKept), pageDays(choices), pageSteps(running)) + pageMoves(running),
    documents: keptUsd(daily(fetch.documentsKept), days, documentSteps(running)) + documentMoves(running),
    indexes: keptUsd(daily(fetch.indexKept), days, [{ fromDay: 0, usdPerGibMonth: prices.storageStandardMonth }]),
    eventFiles: keptUsd(daily(fetch.eventLines), days, documentSteps(running)),
    eventRows: keptUsd(daily(fetch.eventRows), days, [
      { fromDay: 0, usdPerGibMonth: prices.bigqueryActiveMonth },
      { fromDay: LONG_TERM_DAYS, usdPerGibMonth: prices.bigqueryLongTermMonth },
    ]),
  };
}

/** The bill of one day where `gibADay` came on each of the days before and each byte costs what its age says. */
export function keptUsd(gibADay: number, days: number, steps: readonly Step[]): number {
  return steps.reduce((sum, { fromDay, usdPerGibMonth }, at) => {
    const until = Math.min(days, steps[at + 1]?.fromDay ?? days);
    return sum + dayOf(gibADay * Math.max(0, until - fromDay)) * usdPerGibMonth;
  }, 0);
}

function dayOf(perMonth: number): number {
  return perMonth / MONTH_DAYS;
}

/** GiB in Bigtable: a row and a due entry a URL, and a reference for every body that was ever stored. */
function records(fetches: number, days: number): number {
  const urls = fetches * assumed.urlsPerDailyFetch.value;
  const bodies = fetches * assumed.changedShare.value * days;
  return gib(urls * (measured.urlRowBytes.value + measured.dueRowBytes.value) + bodies * measured.contentRowBytes.value);
}

/** Ages of terraform/modules/objects, where events have those of documents, and of BigQuery's long-term storage. */
const PAGES_COLDLINE_DAYS = 30;
const PAGES_ARCHIVE_DAYS = 365;
const DOCUMENTS_NEARLINE_DAYS = 30;
const DOCUMENTS_COLDLINE_DAYS = 180;
const LONG_TERM_DAYS = 90;

function pageDays({ crawlDays, pagesDeletedDays }: Choices): number {
  return pagesDeletedDays === 0 ? crawlDays : Math.min(crawlDays, pagesDeletedDays);
}

function pageSteps({ prices }: Running): Step[] {
  return [
    { fromDay: 0, usdPerGibMonth: prices.storageStandardMonth },
    { fromDay: PAGES_COLDLINE_DAYS, usdPerGibMonth: prices.storageColdlineMonth },
    { fromDay: PAGES_ARCHIVE_DAYS, usdPerGibMonth: prices.storageArchiveMonth },
  ];
}

function documentSteps({ prices }: Running): Step[] {
  return [
    { fromDay: 0, usdPerGibMonth: prices.storageStandardMonth },
    { fromDay: DOCUMENTS_NEARLINE_DAYS, usdPerGibMonth: prices.storageNearlineMonth },
    { fromDay: DOCUMENTS_COLDLINE_DAYS, usdPerGibMonth: prices.storageColdlineMonth },
  ];
}

const CLOSED_PAGES_GIB = gib(limits.segmentBytes); // what a closed day's segments were composed into
const CLOSED_DOCUMENTS_GIB = 0.25; // JOINED_BYTES of core/partitions/small-files.ts

/** A change of class is a call for each object: few of a day that was closed, else one for every commit of every worker. */
function pageMoves({ fetches, fetch, objects, prices, choices }: Running): number {
  const moved = choices.closedDays ? Math.ceil(gib(fetches * fetch.pagesKept) / CLOSED_PAGES_GIB) : objects.segments;
  const days = pageDays(choices);
  const coldline = days > PAGES_COLDLINE_DAYS ? moved * prices.storageClassAColdline : 0;
  const archive = days > PAGES_ARCHIVE_DAYS ? moved * prices.storageClassAArchive : 0;
  return (coldline + archive) / 1_000;
}

function documentMoves({ fetches, fetch, objects, prices, choices }: Running): number {
  const joined = Math.ceil(gib(fetches * fetch.documentsKept) / CLOSED_DOCUMENTS_GIB);
  const moved = choices.closedDays ? joined : objects.documentParts;
  const nearline = choices.crawlDays > DOCUMENTS_NEARLINE_DAYS ? moved * prices.storageClassANearline : 0;
  const coldline = choices.crawlDays > DOCUMENTS_COLDLINE_DAYS ? moved * prices.storageClassAColdline : 0;
  return (nearline + coldline) / 1_000;
}
