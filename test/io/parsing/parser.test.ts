// Do the parser on threads and the one on the spot give the same pages, and does a page's fault stay its own?
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inlineParser } from "../../../io/parsing/inline.ts";
import { workerParser } from "../../../io/parsing/pool.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { ParseFailure, Parser } from "../../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../../schemas/parsed-page.ts";

/** Time stands still until the test lets the timers of one delay go off. */
function handClock(): Clock & { fire(delayMs: number): number } {
  const timers = new Set<{ delayMs: number; run: () => void }>();
  return {
    now: () => 0,
    after(delayMs, run) {
      const timer = { delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    fire(delayMs) {
      const due = [...timers].filter((timer) => timer.delayMs === delayMs);
      for (const timer of due) {
        timers.delete(timer);
        timer.run();
      }
      return due.length;
    },
  };
}

const TIME_MS = 1234;

function pool(changes: Partial<Parameters<typeof workerParser>[0]> = {}): Parser {
  const given = { workers: 2, timeMs: TIME_MS, memoryMb: 256, queueMax: 100, largeBytes: Number.POSITIVE_INFINITY };
  return workerParser({ ...given, clock: handClock(), ...changes });
}

function requestOf(markup: string | Uint8Array): ParseRequest {
  return {
    url: "http://example.org/",
    bytes: typeof markup === "string" ? Buffer.from(markup) : markup,
    contentType: "text/html",
    robotsTags: [],
    productToken: "OurBot",
    document: true,
  };
}

const reasonOf = (result: ParsedPage | ParseFailure) => (result.ok ? "parsed" : result.reason);

/** Seconds of work, were it let to end. */
const slowPage = () => requestOf(`<meta charset=utf-8>${"&".repeat(20_000_000)}`);

for (const [name, make] of [
  ["on threads", () => pool()],
  ["inline", inlineParser],
] as const)
  test(`${name}: pages side by side get each its own answer, and the caller keeps its bytes`, async () => {
    const parser = make();
    try {
      const shared = Buffer.from("<p>before</p><html lang=en><title>It</title><a href=/a>link</a><p>after</p>");
      const part = shared.subarray(13, shared.length - 12);
      const titles = Array.from({ length: 20 }, (_, index) => `title ${index}`);
      const pages = await Promise.all(titles.map((title) => parser.parse(requestOf(`<title>${title}</title>`))));
      assert.deepEqual(
        pages.map((page) => page.ok && page.title),
        titles,
      );
      const page = await parser.parse(requestOf(part));
      assert.ok(page.ok);
      assert.deepEqual([page.title, page.links, page.language], ["It", ["http://example.org/a"], "en"]);
      assert.ok(page.linkSetHash instanceof Uint8Array && page.linkSetHash.length === 8);
      assert.equal(page.document?.text, "link");
      assert.equal(shared.toString("utf8", 0, 13), "<p>before</p>");
    } finally {
      await parser.close();
    }
  });

const places = [
  ["a thread", Number.POSITIVE_INFINITY],
  ["a process", 1000],
] as const;

for (const [where, largeBytes] of places)
  test(`${where} gives the same page as the one on the spot`, async () => {
    const parser = pool({ largeBytes });
    try {
      const request = requestOf(readFileSync(import.meta.filename));
      assert.deepEqual(await parser.parse(request), await inlineParser().parse(request));
    } finally {
      await parser.close();
    }
  });

for (const [where, largeBytes] of places)
  test(`a page that overruns its time in ${where} is answered, and what waits behind it is parsed`, async () => {
    const clock = handClock();
    const parser = pool({ workers: 1, clock, largeBytes });
    try {
      const filler = "-".repeat(2000); // so that both kinds of page go to the same place
      await parser.parse(requestOf(filler));
      const slow = parser.parse(slowPage());
      const waiting = parser.parse(requestOf(`<title>next</title>${filler}`));
      assert.equal(clock.fire(TIME_MS), 1);
      assert.equal(reasonOf(await slow), "timeout");
      const next = await waiting;
      assert.equal(next.ok && next.title, "next");
      assert.equal(clock.fire(TIME_MS), 0, "no timer is left behind");
    } finally {
      await parser.close();
    }
  });

for (const [where, largeBytes] of places)
  test(`a page that overruns its memory in ${where} is answered, and the one after it is parsed`, async () => {
    const parser = pool({ workers: 1, memoryMb: 16, largeBytes });
    try {
      const blocks = "<p>some words that say more".repeat(100_000); // as many blocks as are kept: more than 20 MB
      assert.equal(reasonOf(await parser.parse(requestOf(blocks))), "memory");
      assert.equal(reasonOf(await parser.parse(requestOf(`<title>next</title>${"-".repeat(2000)}`))), "parsed");
    } finally {
      await parser.close();
    }
  });

test("a process that has no work for a while is ended, and another one started for the next large page", async () => {
  const clock = handClock();
  const parser = pool({ clock, largeBytes: 0 });
  try {
    assert.equal(reasonOf(await parser.parse(requestOf("a"))), "parsed");
    assert.equal(clock.fire(10_000), 1);
    assert.equal(reasonOf(await parser.parse(requestOf("b"))), "parsed");
  } finally {
    await parser.close();
  }
});

test("one page more than may wait is busy at once", async () => {
  const clock = handClock();
  const parser = pool({ workers: 1, queueMax: 1, clock });
  try {
    const taken = parser.parse(slowPage());
    const waiting = parser.parse(requestOf("x"));
    assert.equal(reasonOf(await parser.parse(requestOf("x"))), "busy");
    while (clock.fire(TIME_MS) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual([await taken, await waiting].map(reasonOf), ["timeout", "parsed"]);
  } finally {
    await parser.close();
  }
});

test("a thread that does not start costs one page, and does not hold the others", async () => {
  const clock = handClock();
  const parser = pool({ workers: 1, clock });
  try {
    const pages = [parser.parse(requestOf("a")), parser.parse(requestOf("b"))];
    assert.equal(clock.fire(30_000), 1);
    assert.deepEqual((await Promise.all(pages)).map(reasonOf), ["busy", "parsed"]);
  } finally {
    await parser.close();
  }
});

test("where no thread ever starts the first pages are put off, and then they fail rather than wait for ever", async () => {
  const clock = handClock();
  const parser = pool({ workers: 1, clock });
  try {
    const pages = Array.from({ length: 6 }, () => parser.parse(requestOf("x")));
    for (let turn = 0; turn < 6; turn++) assert.equal(clock.fire(30_000), 1);
    assert.deepEqual((await Promise.all(pages)).map(reasonOf), ["busy", "busy", "busy", "busy", "error", "error"]);
    assert.equal(reasonOf(await parser.parse(requestOf("x"))), "parsed");
  } finally {
    await parser.close();
  }
});

test("closing answers what is under way, and what comes later", async () => {
  const parser = pool({ workers: 1 });
  await parser.parse(requestOf("warm"));
  const pages = [parser.parse(slowPage()), parser.parse(requestOf("x"))];
  await Promise.all([parser.close(), parser.close()]);
  assert.deepEqual((await Promise.all([...pages, parser.parse(requestOf("x"))])).map(reasonOf), ["busy", "busy", "busy"]);
});
