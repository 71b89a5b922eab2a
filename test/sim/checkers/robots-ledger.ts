// Which answers to requests for robots.txt can be in force for a host key? Kept from the wire alone, a few of the newest of each.
//
// An answer counts from the time the crawler can have it: a body from its end, all else from the first byte. 429 neither allows nor
// forbids, so it leaves things as they were. A redirect sends a host to another's answers: to the newest one there, or any that comes
// later, as the wire does not tell which of them the crawler took over; each of them may be in force until the host is asked again.
// Redirects are followed to a robots.txt only, which is all that the virtual hosts do.
import type { WireEntry } from "../wire.ts";
import { kept } from "./kept.ts";
import { type RobotsText, robotsReader } from "./robots-text.ts";

/** What one answer made known. */
export interface RobotsView {
  /** `open`: there are no rules (4xx); `shut`: complete disallow (5xx, no answer). */
  kind: "rules" | "open" | "shut" | "sent-on";
  /** When the request arrived. */
  askedAt: number;
  /** From when the crawler can know it. */
  since: number;
  /** Of `shut`: the last one before, which a 304 may renew. */
  text?: RobotsText;
  /** Of `sent-on`: the host key whose robots.txt counts. */
  target?: string;
}

interface Book {
  open: WireEntry[];
  /** Newest last. */
  views: RobotsView[];
}

const VIEWS_KEPT = 8; // of one host key; rules change far less often than they expire
const HOPS_MAX = 5; // RFC 9309 2.3.1.2
const REDIRECTS = [301, 302, 303, 307, 308];

export interface RobotsLedger {
  /** Must see every request, in order. */
  arrived(entry: WireEntry): void;
  /**
   * The views that can be in force at `at` for a request that was admitted at `admittedAt` or later, newest first: the newest, and
   * where it was not even asked for at `admittedAt` those before it. None: robots.txt was never answered.
   */
  views(hostKey: string, at: number, admittedAt: number): RobotsView[];
}

export function hostKeyOf(entry: WireEntry): string {
  return `${entry.scheme}//${entry.host}`;
}

export function isRobots(entry: WireEntry): boolean {
  return entry.path === "/robots.txt";
}

export function robotsLedger(productToken: string): RobotsLedger {
  const read = robotsReader(productToken);
  const books = new Map<string, Book>();

  function bookOf(hostKey: string, now: number): Book | undefined {
    const book = books.get(hostKey);
    if (book !== undefined && book.open.length > 0) takeUp(book, now, read);
    return book;
  }

  /** Follows redirects; `from`: the target's newest view then, and all later ones, may have been taken over. */
  function resolved(view: RobotsView, now: number, hops: number): RobotsView[] {
    if (view.kind !== "sent-on") return [view];
    if (hops >= HOPS_MAX) return [{ ...view, kind: "shut" }];
    const views = bookOf(view.target!, now)?.views ?? [];
    const later = views.findIndex((one) => one.since > view.since);
    const first = later < 0 ? views.length - 1 : Math.max(0, later - 1);
    return views
      .slice(Math.max(0, first))
      .reverse()
      .flatMap((one) => resolved(one, now, hops + 1));
  }

  return {
    arrived(entry) {
      if (!isRobots(entry)) return;
      const hostKey = hostKeyOf(entry);
      bookOf(hostKey, entry.at);
      const book = kept(books, hostKey, newBook);
      book.open.push(entry);
      if (book.open.length > VIEWS_KEPT) book.open.shift();
    },
    views(hostKey, at, admittedAt) {
      const known = bookOf(hostKey, at)?.views ?? [];
      const views: RobotsView[] = [];
      for (let index = known.length - 1; index >= 0; index--) {
        const view = known[index]!;
        if (view.kind === "sent-on") views.push(...resolved(view, at, 0));
        else views.push(view);
        if (view.askedAt < admittedAt) break; // whoever was admitted since knew this one, or was held up until it came
      }
      return views;
    },
  };
}

function newBook(): Book {
  return { open: [], views: [] };
}

function takeUp(book: Book, now: number, read: (text: string) => RobotsText): void {
  const open: WireEntry[] = [];
  const news: RobotsView[] = [];
  for (const entry of book.open) {
    const since = heardAt(entry);
    if (since === undefined || since > now) {
      open.push(entry);
      continue;
    }
    const view = viewOf(entry, since, read);
    if (view !== undefined) news.push(view);
  }
  book.open = open;
  news.sort((one, other) => one.since - other.since);
  for (const view of news) book.views.push(renewed(view, book.views.at(-1)));
  if (book.views.length > VIEWS_KEPT) book.views.splice(0, book.views.length - VIEWS_KEPT);
}

function heardAt({ status, answeredAt, endedAt }: WireEntry): number | undefined {
  if (answeredAt === undefined) return endedAt;
  return status >= 200 && status < 300 ? endedAt : answeredAt;
}

function viewOf(entry: WireEntry, since: number, read: (text: string) => RobotsText): RobotsView | undefined {
  const { status, at: askedAt, robotsBody, location } = entry;
  const view = { askedAt, since };
  if (entry.answeredAt === undefined) return { ...view, kind: "shut" };
  if (status >= 200 && status < 300) {
    if (robotsBody !== undefined) return { ...view, kind: "rules", text: read(robotsBody) };
    return { ...view, kind: status === 204 || status === 205 ? "open" : "shut" };
  }
  if (status === 304) return { ...view, kind: "rules" };
  if (status === 429) return undefined;
  if (REDIRECTS.includes(status)) {
    const target = location === undefined ? null : URL.parse(location, `${hostKeyOf(entry)}${entry.path}`);
    return target === null
      ? { ...view, kind: "shut" }
      : { ...view, kind: "sent-on", target: `${target.protocol}//${target.host}` };
  }
  return { ...view, kind: status >= 400 && status < 500 ? "open" : "shut" };
}

/** A 304 renews the text before it, which outlives failures; without one it means nothing. */
function renewed(view: RobotsView, before: RobotsView | undefined): RobotsView {
  if (view.text !== undefined || before?.text === undefined) {
    return view.kind === "rules" && view.text === undefined ? { ...view, kind: "shut" } : view;
  }
  return view.kind === "rules" || view.kind === "shut" ? { ...view, text: before.text } : view;
}
