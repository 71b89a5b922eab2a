// Is the whole crawl polite? Real sockets on loopback, judged from the server's own log alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answeredPaths, crawlInMemory } from "../lib/crawl-in-memory.ts";
import { beforeRetryAfter, beforeRobots, concurrencyMax, disallowedRequests, repeated, smallestGapMs } from "../lib/judge.ts";
import { type SiteHandler, startWeb } from "../lib/web-server.ts";

const html = { "content-type": "text/html; charset=utf-8" };

/** `pages` pages in a row, each linking to the next two and to `more`. */
function chain(pages: number, { robots = "", more = "" } = {}): SiteHandler {
  return ({ path }) => {
    if (path === "/robots.txt") return { headers: { "content-type": "text/plain" }, body: robots };
    const number = path === "/" ? 0 : Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(number < pages)) return { status: 404, headers: html, body: "none" };
    const links = [number + 1, number + 2].filter((next) => next < pages).map((next) => `<a href="/page/${next}">${next}</a>`);
    return { headers: html, body: `<title>${number}</title><p>page ${number} of a chain</p>${links.join(" ")} ${more}` };
  };
}

test("one site: every page once, the delay kept, robots.txt first", async () => {
  const web = await startWeb({ sites: { "one.test": chain(8) } });
  try {
    const { end } = await crawlInMemory({ port: web.port, seeds: ["http://one.test/"], flags: ["--delay-ms", "150"] });
    assert.equal(end.cause, "done");
    assert.deepEqual(answeredPaths(web.log, "one.test").sort(), ["/", ...[1, 2, 3, 4, 5, 6, 7].map((n) => `/page/${n}`)]);
    assert.deepEqual(repeated(web.log), []);
    assert.deepEqual(beforeRobots(web.log, "one.test"), []);
    assert.equal(concurrencyMax(web.log, "one.test"), 1);
    assert.ok(
      smallestGapMs(web.log, "one.test").answerToStart >= 150,
      `${smallestGapMs(web.log, "one.test").answerToStart} ms`,
    );
  } finally {
    await web.close();
  }
});

test("an agreed concurrency of 3 is used and never exceeded, starts spaced by the delay", async () => {
  const slow: SiteHandler = async (ask) => ({ ...(await chain(24)(ask)), delayMs: 300 });
  const web = await startWeb({ sites: { "wide.test": slow } });
  try {
    await crawlInMemory({
      port: web.port,
      seeds: ["http://wide.test/"],
      flags: ["--delay-ms", "50", "--host-concurrency", "3"],
    });
    assert.equal(answeredPaths(web.log, "wide.test").length, 24);
    const most = concurrencyMax(web.log, "wide.test");
    assert.ok(most === 2 || most === 3, `${most} at once`);
    assert.ok(smallestGapMs(web.log, "wide.test").startToStart >= 50);
  } finally {
    await web.close();
  }
});

test("what robots.txt forbids is never asked for, and its Crawl-delay is kept", async () => {
  const robots = "User-agent: *\nDisallow: /\n\nUser-agent: gleaner\nDisallow: /page/3\nCrawl-delay: 1\n";
  const web = await startWeb({ sites: { "rules.test": chain(6, { robots }) } });
  try {
    const { ports } = await crawlInMemory({
      port: web.port,
      seeds: ["http://rules.test/"],
      flags: ["--delay-ms", "50"],
      idleHorizonMs: 3_000,
    });
    assert.deepEqual(answeredPaths(web.log, "rules.test").sort(), ["/", "/page/1", "/page/2", "/page/4", "/page/5"]);
    assert.deepEqual(disallowedRequests(web.log, "rules.test", robots), []);
    assert.ok(smallestGapMs(web.log, "rules.test").answerToStart >= 1000);
    assert.equal(ports.metrics.counter("gleaner_fetches_total", { kind: "page", outcome: "robots" }), 1);
  } finally {
    await web.close();
  }
});

for (const [situation, answer] of [
  ["answered with 500", { status: 500 }],
  ["not answered", undefined],
] as const) {
  test(`robots.txt ${situation}: no page of the host is asked for, the host is deferred`, async () => {
    const site: SiteHandler = ({ path, request, response }) => {
      if (path !== "/robots.txt") return { headers: html, body: "page" };
      if (answer !== undefined) return answer;
      request.socket.destroy();
      response.destroy();
      return undefined;
    };
    const web = await startWeb({ sites: { "broken.test": site } });
    try {
      const { end } = await crawlInMemory({ port: web.port, seeds: ["http://broken.test/"], flags: ["--delay-ms", "50"] });
      assert.deepEqual(
        web.log.map((entry) => entry.path),
        ["/robots.txt"],
      );
      assert.deepEqual(
        end.deferred.map(({ host, reason }) => [host, reason]),
        [["broken.test", "robots-unreachable"]],
      );
    } finally {
      await web.close();
    }
  });
}

test("a 429 with Retry-After rests the whole host, and its URL is fetched afterwards", async () => {
  const asked = new Map<string, number>();
  const busy: SiteHandler = async (ask) => {
    const times = (asked.get(ask.path) ?? 0) + 1;
    asked.set(ask.path, times);
    if (ask.path === "/page/2" && times === 1) return { status: 429, headers: { "retry-after": "2" }, body: "later" };
    return chain(6)(ask);
  };
  const web = await startWeb({ sites: { "busy.test": busy } });
  try {
    await crawlInMemory({ port: web.port, seeds: ["http://busy.test/"], flags: ["--delay-ms", "50"], idleHorizonMs: 5_000 });
    assert.deepEqual(beforeRetryAfter(web.log, "busy.test"), []);
    assert.equal(answeredPaths(web.log, "busy.test").length, 6);
  } finally {
    await web.close();
  }
});

test("redirects wait for the turn of the host they lead to, and a loop ends", async () => {
  const from: SiteHandler = async (ask) => {
    if (ask.path === "/page/1") return { status: 302, headers: { location: "http://to.test/page/1" } };
    if (ask.path === "/page/2") return { status: 301, headers: { location: "/page/3" } };
    if (ask.path === "/page/3") return { status: 301, headers: { location: "/page/2" } };
    return chain(4)(ask);
  };
  const web = await startWeb({ sites: { "from.test": from, "to.test": chain(5) } });
  try {
    const { ports } = await crawlInMemory({
      port: web.port,
      seeds: ["http://from.test/", "http://to.test/"],
      flags: ["--delay-ms", "120"],
    });
    assert.equal(answeredPaths(web.log, "to.test").length, 5);
    for (const host of ["from.test", "to.test"]) {
      assert.ok(smallestGapMs(web.log, host).answerToStart >= 120, `${host}: ${smallestGapMs(web.log, host).answerToStart} ms`);
      assert.deepEqual(beforeRobots(web.log, host), []);
    }
    assert.equal(ports.metrics.counter("gleaner_fetches_total", { kind: "page", outcome: "redirect" }), 3);
  } finally {
    await web.close();
  }
});

test("robots.txt by redirect: each hop waits for its own host's clock, and rules the host that was sent there", async () => {
  const robots = "User-agent: *\nDisallow: /page/2\n";
  const sent: SiteHandler = (ask) =>
    ask.path === "/robots.txt" ? { status: 301, headers: { location: "http://target.test/robots.txt" } } : chain(4)(ask);
  const web = await startWeb({ sites: { "sent.test": sent, "target.test": chain(3, { robots }) } });
  try {
    await crawlInMemory({
      port: web.port,
      seeds: ["http://sent.test/", "http://target.test/"],
      flags: ["--delay-ms", "200"],
      idleHorizonMs: 3_000,
    });
    assert.deepEqual(disallowedRequests(web.log, "sent.test", robots), []);
    assert.deepEqual(answeredPaths(web.log, "sent.test").sort(), ["/", "/page/1", "/page/3"]);
    assert.ok(smallestGapMs(web.log, "target.test").answerToStart >= 200);
  } finally {
    await web.close();
  }
});

test("a host that holds its answers for 10 s does not slow the others", async () => {
  const held: SiteHandler = async (ask) => ({ ...(await chain(3)(ask)), delayMs: ask.path === "/robots.txt" ? 0 : 10_000 });
  const others = Array.from({ length: 6 }, (_, index) => `host${index}.test`);
  const run = async (slow: boolean): Promise<number> => {
    const web = await startWeb({
      sites: { "held.test": slow ? held : chain(1), ...Object.fromEntries(others.map((host) => [host, chain(20)])) },
    });
    try {
      const seeds = ["held.test", ...others].map((host) => `http://${host}/`);
      await crawlInMemory({ port: web.port, seeds, flags: ["--delay-ms", "100"] });
      const times = web.log.filter((entry) => entry.host !== "held.test").map((entry) => entry.startedAt);
      assert.equal(times.length, others.length * 21);
      return Math.max(...times) - Math.min(...times);
    } finally {
      await web.close();
    }
  };
  const [alone, beside] = [await run(false), await run(true)];
  assert.ok(
    beside < alone * 1.3 + 500,
    `the others took ${Math.round(alone)} ms alone and ${Math.round(beside)} ms beside a held host`,
  );
});
