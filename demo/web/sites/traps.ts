// Sites that make a crawler waste its time: a calendar without end, and one text under many addresses.
import { limits } from "../../../schemas/limits.ts";
import type { SiteAnswer, SiteHandler } from "../../../test/lib/web-server.ts";
import { html, type Link, notFound, plain } from "../page.ts";
import { drawFrom, prose, sentence } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, fixedSite } from "../site.ts";

const CALENDAR = "calendar.demo.test";
const MIRROR = "mirror.demo.test";

const FIRST_YEAR = 2030;
const EVENTS = Array.from({ length: 6 }, (_, index) => `/events/${index + 1}.html`);

/** Every month links to the next one, for ever; only the depth of a URL ends it. */
export function calendar(): DemoSite {
  return {
    host: CALENDAR,
    about: "a calendar whose every month links to the next, for ever, beside six real pages",
    handler: calendarHandler,
    expected: {
      fetched: ["/", ...EVENTS],
      endless: { pattern: /^\/month\/\d{4}-\d{2}$/, most: limits.depthMax + 1, reasons: ["depth"] },
    },
  };
}

const calendarHandler: SiteHandler = ({ path }) => {
  if (path === "/robots.txt") return plain(ALLOW_ALL);
  const to = (href: string, text: string): Link => ({ href, text });
  if (path === "/") {
    const links = [to(monthPath(0), "The calendar"), ...EVENTS.map((event) => to(event, `To ${event}`))];
    return html({ title: "What is on", paragraphs: prose(CALENDAR + path, 2), links });
  }
  if (EVENTS.includes(path)) {
    return html({
      title: `Event ${path.slice(8, -5)}`,
      paragraphs: prose(CALENDAR + path, 3),
      links: [to("/", "Home")],
      about: "Event",
    });
  }
  const [, year, month] = /^\/month\/(\d{4})-(\d{2})$/.exec(path) ?? [];
  if (year === undefined || month === undefined) return notFound(path);
  const next = monthPath((Number(year) - FIRST_YEAR) * 12 + Number(month));
  return html({
    title: `Month ${month} of ${year}`,
    paragraphs: ["Nothing is on."],
    links: [to("/", "Home"), to(next, "Next month")],
  });
};

function monthPath(monthsOn: number): string {
  const year = FIRST_YEAR + Math.floor(monthsOn / 12);
  return `/month/${year}-${String((monthsOn % 12) + 1).padStart(2, "0")}`;
}

const COPIES = 8;

/** Near-duplicates differ in a sentence; two of the pages are the same to the last byte. */
export function mirror(): DemoSite {
  const near = Array.from({ length: COPIES }, (_, index) => `/copy-${index + 1}.html`);
  const twins = ["/twin-a.html", "/twin-b.html"];
  const text = prose(MIRROR, 8);
  const home: Link[] = [{ href: "/", text: "Home" }];
  const answers = new Map<string, SiteAnswer>();
  const toAll = [...near, ...twins].map((href) => ({ href, text: `To ${href}` }));
  answers.set("/", html({ title: "One text, many pages", paragraphs: prose(`${MIRROR}/`, 1), links: toAll }));
  for (const path of near) {
    const paragraphs = [...text.slice(0, -1), `${text.at(-1)} ${sentence(drawFrom(path))}`];
    answers.set(path, html({ title: "The text", paragraphs, links: home, about: "Article" }));
  }
  for (const path of twins) answers.set(path, html({ title: "The text", paragraphs: text, links: home, about: "Article" }));
  return {
    host: MIRROR,
    about: "one text under ten addresses, eight with a sentence of difference, two the same",
    handler: fixedSite(ALLOW_ALL, answers),
    expected: { fetched: ["/", ...near, ...twins] },
  };
}
