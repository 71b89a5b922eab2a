// How is what is known of one URL put for people? Facts first, the one reason last.
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import { clockLines, robotsLine } from "./print-clock.ts";
import type { RobotsDecision } from "./read-robots.ts";
import type { RecordView, UrlView } from "./read-url.ts";
import { urlReason } from "./url-reason.ts";
import { counted, duration, row, rows, shown, when } from "./words.ts";

export function printedUrl(view: UrlView, folder: string, config: CrawlConfig): string {
  const { record, at, clock, robots } = view;
  return [
    view.url,
    ...(record === undefined ? [row("record", "none: no crawl in this folder knows it")] : recordRows(record, folder, at)),
    ...rows(
      "refused",
      view.refusals.map(({ at: then, reason, source }) => `${reason}${source ? ` (by ${source})` : ""}, ${when(then, at)}`),
    ),
    ...rows("outcomes", outcomeLines(view)),
    ...rows("robots", robotsLines(robots, at)),
    ...rows(`clock`, [`of ${view.paceKey}`, ...clockLines(clock, at)]),
    ...dueRows(view),
    "",
    urlReason(view, config),
  ].join("\n");
}

const CLASSES = ["seeds and sitemaps", "first fetches and retries", "revisits", "gone, failed or forbidden"];

export function className(priority: number): string {
  return CLASSES[priority] ?? `class ${priority}`;
}

function recordRows(record: RecordView, folder: string, now: number): string[] {
  const { stored, marks } = record;
  const validators = [
    record.etag === undefined ? "" : `ETag ${shown(record.etag)}`,
    record.lastModified === undefined ? "" : `Last-Modified ${shown(record.lastModified)}`,
  ].filter((text) => text !== "");
  return [
    row("last outcome", lastOutcome(record, now)),
    row("version", `${record.version}, of its document ${record.docVersion}${record.indexed ? ", indexed" : ""}`),
    row("kind", `${record.kind}, ${counted(record.depth, "link")} from a seed, ${counted(record.hops, "redirect")} followed`),
    row("discovered", when(record.discoveredAt, now)),
    row("next fetch", `${when(record.nextFetchAt, now)}${record.nextFetchAt <= now ? " (due)" : ""}`),
    ...(record.changeHistory === undefined ? [] : rows("visits", visitLines(record.changeHistory))),
    ...(record.failureCount > 0 ? [row("failures", `${record.failureCount} since the last success`)] : []),
    row("validators", validators.length === 0 ? "none" : validators.join(", ")),
    row(
      "content hash",
      record.contentHash === undefined ? "none: no body was kept" : `sha256 ${record.contentHash}… (its first 160 bits)`,
    ),
    ...(record.simHash === undefined ? [] : [row("SimHash", record.simHash)]),
    ...(record.quality === undefined ? [] : [row("quality", `${record.quality} of 100`)]),
    ...(record.cluster === undefined ? [] : [row("cluster", clusterLine(record.cluster))]),
    ...(stored === undefined
      ? []
      : [row("body", `${folder}/pages/${stored.segment}, ${stored.length} bytes at ${stored.offset}`)]),
    ...(marks === undefined ? [] : [row("unfinished", Object.keys(marks).join(", "))]),
  ];
}

const ROLES: Record<NonNullable<RecordView["cluster"]>["role"], string> = {
  representative: "stands for its near-duplicates",
  copy: "says the very same as the page that stands for it",
  near: "a near-duplicate of the page that stands for it",
  single: "stands alone",
};

function clusterLine({ id, role }: NonNullable<RecordView["cluster"]>): string {
  return `${role}: ${ROLES[role]}; cluster ${id}`;
}

const VISITS_SHOWN = 8;

/** Each as the time since the one before it, and whether the page had changed then; newest last. */
function visitLines(history: NonNullable<RecordView["changeHistory"]>): string[] {
  const changes = history.filter(({ changed }) => changed).length;
  const shown = history.slice(-VISITS_SHOWN);
  const visits = shown.map(({ afterMs, changed }) => `${changed ? "changed" : "same"} after ${duration(afterMs)}`);
  return [
    `${counted(history.length, "revisit")} remembered, ${counted(changes, "change")} found`,
    `${shown.length < history.length ? "…, " : ""}${visits.join(", ")}`,
  ];
}

function lastOutcome(record: RecordView, now: number): string {
  if (record.lastOutcome === undefined) return "none: it was never completed";
  const status = record.lastStatus === undefined ? "" : ` (HTTP ${record.lastStatus})`;
  const reason = record.lastReason === undefined ? "" : `, reason ${record.lastReason}`;
  const sent = record.lastFetchAt === undefined ? "" : `; last asked ${when(record.lastFetchAt, now)}`;
  return `${record.lastOutcome}${status}${reason}${sent}`;
}

function outcomeLines({ events, eventsComplete, at }: UrlView): string[] {
  const rest = eventsComplete ? [] : ["older events were not looked at"];
  return [...(events.length === 0 ? ["none in the event files"] : events.map((event) => eventLine(event, at))), ...rest];
}

export function eventLine(event: FetchEvent, now: number): string {
  const parts = [
    event.status === undefined ? event.outcome : `${event.outcome} ${event.status}`,
    event.reason,
    event.latencyMs === undefined ? undefined : `answered after ${duration(event.latencyMs)}`,
    event.wireBytes === undefined ? undefined : counted(event.wireBytes, "byte"),
    event.links === undefined ? undefined : counted(event.links, "link"),
    event.redirectTo === undefined ? undefined : `to ${shown(event.redirectTo)}`,
  ];
  return `${when(event.at, now)}: ${parts.filter((part) => part !== undefined).join(", ")}`;
}

function robotsLines({ judgement, view, lineText }: RobotsDecision, now: number): string[] {
  const rule =
    "rule" in judgement && judgement.rule !== undefined ? `, line ${judgement.line}: ${shown(lineText ?? judgement.rule)}` : "";
  const words: Record<typeof judgement.verdict, string> = {
    allow: rule === "" ? "allow: no rule matches" : `allow${rule}`,
    disallow: `disallow${rule}`,
    missing: "not known: robots.txt is to be asked for first",
    unreachable: "disallow for now: robots.txt cannot be reached",
    deferred: "neither allowed nor forbidden yet",
  };
  return [words[judgement.verdict], `of ${view.hostKey}: ${robotsLine(view, now)}`];
}

function dueRows({ due, at }: UrlView): string[] {
  if (due === undefined) return [row("due entry", "none, as there is no record")];
  const agrees = due.stands
    ? "record and entry agree"
    : "MISSING: the record calls for it; the next start of the crawl adds it";
  return [row("due entry", `class ${due.priority} (${className(due.priority)}), ${when(due.dueAt, at)}; ${agrees}`)];
}
