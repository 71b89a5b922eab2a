// Is the soak's web without end, with a way on from each page, and does each hostile host do what its name says?
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { parsePolicies } from "../../pipelines/policy-file.ts";
import { DOMAIN, startSoakWeb } from "./web.ts";

const web = await startSoakWeb({ hosts: 2, delayMs: 0 });
after(() => web.close());
const port = Number(web.connectTo[0]!.split(":").at(-1));
const WAIT_MS = 10_000; // for all of an answer, on a busy machine
const ENOUGH_BYTES = 12 * 1024 * 1024; // the crawl's own limit is 10 MiB
const SILENCE_MS = 700; // for hosts that say nothing
const SILENT = ["stall", "robots-stall"];
const DRIP = "\r\n.\r\n"; // a chunk of the host that trickles

/** What the socket gave until its end, or until the time was over. */
function asked(name: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const parts: Buffer[] = [];
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(parts).toString("latin1"));
    };
    const timer = setTimeout(done, SILENT.includes(name) ? SILENCE_MS : WAIT_MS);
    socket.on("data", (part) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > ENOUGH_BYTES || part.includes(DRIP)) done();
    });
    socket.on("error", done).on("end", done).on("close", done);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${name}.${DOMAIN}\r\nConnection: close\r\n\r\n`);
  });
}

const links = (text: string): string[] => [...text.matchAll(/<a href="([^"]+)"/g)].map((found) => found[1]!);

test("a large host leads to new pages of its own for ever, to other hosts, and to what is forbidden", async () => {
  const text = await asked("large-1", "/p/990");
  assert.match(text, /^HTTP\/1\.1 200 OK/);
  const found = links(text);
  assert.ok(
    found.includes("/p/3961") && found.includes("/private/990") && found.some((href) => href.startsWith("http://large-")),
  );
  assert.equal(
    await asked("large-1", "/p/990").then((again) => again.split("</main>")[0]?.split("<main>")[1]),
    text.split("</main>")[0]?.split("<main>")[1],
  );
});

test("robots.txt forbids, asks for a delay where the judge owes one, and names the sitemap", async () => {
  assert.match(await asked("slow-0", "/robots.txt"), /Disallow: \/private\/\nCrawl-delay: 1\n/);
  assert.match(await asked("large-0", "/robots.txt"), /Sitemap: http:\/\/large-0\.soak\.test\/sitemap\.xml/);
  assert.match(await asked("large-0", "/sitemap.xml"), /<loc>http:\/\/large-0\.soak\.test\/p\/49<\/loc>/);
});

const attacks: [name: string, path: string, expected: RegExp][] = [
  ["bomb", "/p/1", /content-encoding: gzip/i],
  ["endless", "/p/1", /<p>and so on <p>/],
  ["many", "/p/1", /href=\/many\/-p-1\/99999>/],
  ["many", "/many/-p-1/20", /href=\/many\/-many--p-1-20\/99999>/],
  ["deep", "/p/1", /(?:<div>){1000}/],
  ["trickle", "/p/1", /\r\n\.\r\n$/],
  ["stall", "/p/1", /^$/],
  ["header-flood", "/p/1", /x-9999: 1 of no use/],
  ["reset", "/p/3", /^$/],
  ["lengths", "/p/1", /Content-Length: 50\r\n\r\nhello$/],
  ["junk", "/p/1", /^<html>hello/],
  ["redirect-loop", "/p/1", /location: \/p\/1\r/i],
  ["redirect-loop", "/p/7", /location: \/p\/5\r/i],
  ["redirect-chain", "/hop/7", /location: \/hop\/8\r/i],
  ["inward", "/p/1", /location: http:\/\/169\.254\.169\.254\/latest\/meta-data\/1\r/i],
  ["inward", "/p/3", /href="http:\/\/10\.0\.0\.8\/latest\/meta-data\/3"/],
  ["broken", "/p/1", /^HTTP\/1\.1 501/],
  ["nul", "/p/1", /\0{1000}/],
  ["robots-broken", "/robots.txt", /^HTTP\/1\.1 503/],
  ["robots-stall", "/robots.txt", /^$/],
  ["soft-404", "/whatever", /^HTTP\/1\.1 200 [\s\S]*could not find/],
  ["offers", "/offer/4/1", /href="\/offer\/\d+\/3"/],
  ["calendar", "/day/2030-12-31", /href="\/day\/2031-01-01"/],
  ["facets", "/search?size=1", /href="\/search\?size=1&amp;colour=2"/],
  ["sessions", "/item/1?sid=4", /href="\/item\/0\?sid=\d+"/],
  ["echo", "/p/1?again=1", /href="\/p\/1\?again=1&amp;again=1"/],
  ["anything", "/a/b", /href="\/a\/b\/www\.partner\.example\/"/],
];

test("each hostile host and each trap does what its name says, on its odd pages", async () => {
  const found = await Promise.all(attacks.map(async ([name, path]) => asked(name, path)));
  for (const [index, [name, path, expected]] of attacks.entries())
    assert.ok(expected.test(found[index]!), `${name}${path}: ${found[index]!.slice(0, 300)}`);
});

test("a body without end goes on beyond what anybody reads", async () => {
  assert.ok((await asked("endless", "/p/1")).length > ENOUGH_BYTES);
});

test("hosts that attack lead on by their even pages", async () => {
  for (const name of ["bomb", "many", "trickle", "reset", "inward"])
    assert.deepEqual(links(await asked(name, "/p/2")), ["/p/9", "/p/10", "/p/11", "/p/12"], name);
});

test("a busy host asks for rest by seconds and by dates", async () => {
  const found: string[] = [];
  for (let turn = 0; turn < 60; turn++) {
    const [, rest] = /retry-after: ([^\r]+)/i.exec(await asked("busy-0", "/p/1")) ?? [];
    if (rest !== undefined) found.push(rest);
  }
  assert.equal(found.length, 2);
  assert.ok(found.some((rest) => rest === "3") && found.some((rest) => Date.parse(rest) > Date.now()), found.join());
});

test("the listeners where nobody may come tell of whoever comes", async () => {
  const before = web.judge.judgement().violations;
  const [, host = "", inside] = /=(.+):(\d+)$/.exec(web.connectTo[1]!) ?? [];
  await new Promise((resolve) => connect(Number(inside), host).on("close", resolve).on("error", resolve));
  const { violations, samples } = web.judge.judgement();
  assert.ok(violations > before || samples.length === 20, samples.join());
});

test("the policies of its traps can be read, and every host but the small ones is a seed", () => {
  assert.equal(parsePolicies(JSON.stringify(web.policies), "the soak's").hosts.length, 4);
  assert.ok(web.seeds.includes("http://large-1.soak.test/") && !web.seeds.some((seed) => seed.includes("small-")));
});
