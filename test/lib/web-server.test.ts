import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { type RequestLogEntry, type SiteHandler, startWeb, type Web } from "./web-server.ts";

interface Got {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

function get(web: Web, host: string, path: string, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const ask = request({ port: web.port, host: "127.0.0.1", path, headers: { host, ...headers }, agent: false }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (part) => {
        body += part;
      });
      answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, body }));
      answer.on("error", reject);
    });
    ask.on("error", reject).end();
  });
}

async function withWeb(sites: Record<string, SiteHandler>, run: (web: Web, ended: RequestLogEntry[]) => Promise<void>) {
  const ended: RequestLogEntry[] = [];
  const web = await startWeb({ sites, log: (entry) => ended.push(entry) });
  try {
    await run(web, ended);
  } finally {
    await web.close();
  }
}

test("each host name has its own site, and one without a site is answered with 421", () =>
  withWeb({ "a.test": () => ({ body: "A" }), "b.test": ({ path }) => ({ status: 404, body: path }) }, async (web) => {
    assert.equal((await get(web, "A.test:8080", "/")).body, "A");
    assert.deepEqual(await get(web, "b.test", "/x?y").then(({ status, body }) => ({ status, body })), {
      status: 404,
      body: "/x?y",
    });
    assert.equal((await get(web, "c.test", "/")).status, 421);
  }));

test("the log has one entry a request, in order, with times that do not run backwards", () =>
  withWeb({ "a.test": () => ({ status: 503, headers: { "retry-after": "7" }, body: "later" }) }, async (web, ended) => {
    await get(web, "a.test", "/one", { "user-agent": "tester/1" });
    await get(web, "a.test:99", "/two");
    assert.deepEqual(
      web.log.map(({ host, method, path, status, userAgent, retryAfter }) => [
        host,
        method,
        path,
        status,
        userAgent,
        retryAfter,
      ]),
      [
        ["a.test", "GET", "/one", 503, "tester/1", "7"],
        ["a.test", "GET", "/two", 503, "", "7"],
      ],
    );
    for (const entry of web.log) assert.ok(entry.startedAt <= entry.answeredAt! && entry.answeredAt! <= entry.endedAt!);
    assert.deepEqual(ended, web.log);
  }));

test("requests that are open together are counted per host", async () => {
  const held: (() => void)[] = [];
  const hold: SiteHandler = () => new Promise((resolve) => held.push(() => resolve({ body: "done" })));
  await withWeb({ "a.test": hold, "b.test": () => ({}) }, async (web) => {
    const open = [get(web, "a.test", "/1"), get(web, "a.test", "/2")];
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await get(web, "b.test", "/");
    for (const answer of held) answer();
    await Promise.all(open);
    const again = get(web, "a.test", "/3");
    while (held.length < 3) await new Promise((resolve) => setImmediate(resolve));
    held[2]!();
    await again;
    assert.deepEqual(
      web.log.map(({ host, concurrent }) => [host, concurrent]),
      [
        ["a.test", 1],
        ["a.test", 2],
        ["b.test", 1],
        ["a.test", 1],
      ],
    );
  });
});

test("a handler may take over, and a request cut off is logged without a status", () =>
  withWeb(
    {
      "raw.test": ({ response }) => {
        response.writeHead(418);
        response.write("half ");
        response.end("and half");
        return undefined;
      },
      "cut.test": ({ request }) => {
        request.socket.destroy();
        return undefined;
      },
    },
    async (web, ended) => {
      const { status, body } = await get(web, "raw.test", "/");
      assert.deepEqual([status, body], [418, "half and half"]);
      await assert.rejects(get(web, "cut.test", "/"));
      assert.deepEqual(
        ended.map((entry) => [entry.host, entry.status, entry.answeredAt !== undefined]),
        [
          ["raw.test", 418, true],
          ["cut.test", 0, false],
        ],
      );
    },
  ));

test("delays hold the first byte and the body back; 304 goes without a body", () =>
  withWeb(
    {
      "slow.test": () => ({ delayMs: 40, bodyDelayMs: 40, body: "late" }),
      "same.test": () => ({ status: 304, headers: { etag: '"1"' }, body: "never sent" }),
    },
    async (web) => {
      assert.equal((await get(web, "slow.test", "/")).body, "late");
      const [entry] = web.log;
      // Timers may fire a ms early.
      assert.ok(entry!.answeredAt! - entry!.startedAt >= 38 && entry!.endedAt! - entry!.answeredAt! >= 38);
      const same = await get(web, "same.test", "/");
      assert.deepEqual([same.status, same.body, same.headers.etag], [304, "", '"1"']);
    },
  ));

test("closing ends a delayed answer at once, and a failing handler is a 500", async () => {
  const web = await startWeb({
    sites: {
      "slow.test": () => ({ delayMs: 600_000 }),
      "broken.test": () => {
        throw new Error("broken");
      },
    },
  });
  assert.equal((await get(web, "broken.test", "/")).status, 500);
  const waiting = assert.rejects(get(web, "slow.test", "/"));
  while (web.log.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await web.close();
  await waiting;
});
