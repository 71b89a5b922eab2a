// How many bytes, objects and rows does a day of a crawl move and keep? Measured figures and assumptions times the fetches of the day.
import { assumed, BYTES_OF_A_DISCOVERY, measured } from "./figures.ts";
import { DAY_SECONDS } from "./units.ts";

/** What a crawl may be told to do otherwise. */
export interface Choices {
  /** Workers and nodes for the peak all day, or scaled down to the mean. */
  running: "peak" | "mean";
  /** The crawl has run for so many days, and keeps what they wrote. */
  crawlDays: number;
  /** After how many days pages are deleted; 0 is never. */
  pagesDeletedDays: number;
  addressPerWorker: boolean;
  streamingEngine: boolean;
  documents: boolean;
  /** The daily run closes each day: it composes the day's segments, and joins its parts of documents. */
  closedDays: boolean;
}

/** As Terraform's defaults have it, documents included. */
export const usual: Choices = {
  running: "peak",
  crawlDays: assumed.crawlDays.value,
  pagesDeletedDays: 0,
  addressPerWorker: false,
  streamingEngine: true,
  documents: true,
  closedDays: true,
};

/** Of one fetch on average, in bytes; rows are counts. */
export interface Fetch {
  received: number;
  sent: number;
  /** As the queues' topics and subscriptions are billed, each way. */
  queuePublished: number;
  queueDelivered: number;
  eventsPublished: number;
  eventsDelivered: number;
  eventRows: number;
  /** As lines of JSON in the bucket. */
  eventLines: number;
  /** Streaming Engine: leases, messages, and what is read and written of state. */
  engine: number;
  pagesKept: number;
  indexKept: number;
  documentsKept: number;
}

export function fetchOf({ documents }: Pick<Choices, "documents">): Fetch {
  const changed = assumed.changedShare.value;
  const indexed = documents ? changed : 0;
  const whole = changed + (1 - changed) * assumed.sentWholeShare.value;
  const hostBytes = measured.hostMessages.value * (measured.hostMessageBytes.value + assumed.envelopeBytes.value);
  const linkBytes = changed * (BYTES_OF_A_DISCOVERY + assumed.envelopeBytes.value);
  const events = eventBytes(indexed, assumed.envelopeBytes.value);
  const published = hostBytes + linkBytes + events;
  // A call is billed as a kilobyte at least.
  const billed = Math.max(1, (measured.publishes.value * CALL_BYTES_MIN) / published);
  return {
    received: assumed.pageWireBytes.value * whole + assumed.receivedAround.value,
    sent: assumed.sentBytes.value,
    queuePublished: (hostBytes + linkBytes) * billed,
    queueDelivered: hostBytes + linkBytes,
    eventsPublished: events * billed,
    eventsDelivered: events,
    eventRows:
      measured.fetchRowBytes.value +
      indexed * measured.indexRowBytes.value +
      assumed.skipEvents.value * measured.skipEventBytes.value,
    eventLines: eventBytes(indexed, 0),
    engine: measured.leaseBytes.value + hostBytes + linkBytes + stateBytes(),
    pagesKept:
      changed * assumed.pageWireBytes.value * measured.archivedToWire.value + (1 - changed) * measured.revisitBytes.value,
    indexKept: measured.cdxjBytes.value,
    documentsKept: indexed * measured.documentBytes.value,
  };
}

const CALL_BYTES_MIN = 1_000; // https://cloud.google.com/pubsub/pricing

/** `envelope`: what each has beside its line. */
function eventBytes(indexed: number, envelope: number): number {
  return (
    measured.fetchEventBytes.value +
    envelope +
    indexed * (measured.indexEventBytes.value + envelope) +
    assumed.skipEvents.value * (measured.skipEventBytes.value + envelope)
  );
}

/** A visit reads what the bag holds and appends a value. */
function stateBytes(): number {
  return measured.stateVisits.value * measured.stateBytes.value * (measured.stateValuesRead.value + 1);
}

/** Objects that a day's workers create, and what else is asked of Cloud Storage. */
export interface Objects {
  segments: number;
  documentParts: number;
  classA: number;
  classB: number;
}

/** `fetches` a day over so many workers that run all day. */
export function objectsOf(fetches: number, workers: number, choices: Pick<Choices, "documents" | "closedDays">): Objects {
  const perSecond = fetches / workers / DAY_SECONDS;
  const commits = (pages: number): number => workers * DAY_SECONDS * commitsPerSecond(pages);
  const segments = commits(perSecond);
  const documentParts = choices.documents ? commits(perSecond * assumed.changedShare.value) : 0;
  // Closing composes runs of segments, and reads each segment's index and each part of documents once.
  const closing = choices.closedDays
    ? { classA: segments / COMPOSE_PARTS, classB: segments + documentParts }
    : { classA: 0, classB: 0 };
  return { segments, documentParts, classA: 2 * segments + documentParts + closing.classA, classB: closing.classB };
}

const GATHER_SECONDS = 0.5; // GATHER_MS of io/objects/gcs/gathered-commit.ts, which tools may not import
const COMPOSE_PARTS = 32; // COMPOSE_PARTS_MAX of io/objects/gcs/bucket.ts

/** A commit begins with the first page that comes, and is due half a second later. */
export function commitsPerSecond(pagesPerSecond: number): number {
  return pagesPerSecond === 0 ? 0 : 1 / (GATHER_SECONDS + 1 / pagesPerSecond);
}
