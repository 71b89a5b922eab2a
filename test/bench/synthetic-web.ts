// A web of HOSTS hosts with PAGES pages each, 29 KB a page, in a process of its own: prints its port, then serves until it is ended.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

const HOSTS = Number(process.argv[2] ?? 40);
const PAGES = Number(process.argv[3] ?? 50);
const PAGE_BYTES = 29_000; // the size of the pages of the peers' bench
const LINKS_HOME = 45;
const LINKS_AWAY = 10;
const SYLLABLES = "ka lo mi ren sa tu vel wo xan ye zor bri cha del fen gur hal ist jor kem".split(" ");

const bodies = new Map<string, Buffer>();
for (let host = 0; host < HOSTS; host++) {
  for (let page = 0; page < PAGES; page++) bodies.set(`h${host}.test/p/${page}`, gzipSync(pageOf(host, page)));
}

const server = createServer((request, response) => {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  if (request.url === "/robots.txt")
    return void response.setHeader("content-type", "text/plain").end("User-agent: *\nDisallow: /private/\n");
  const body = bodies.get(`${host}${request.url}`);
  if (body === undefined) return void response.writeHead(404, { "content-type": "text/html" }).end("none");
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-encoding": "gzip",
    "content-length": body.length,
  });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().on("end", () => process.exit(0)); // ends with the bench that started it

function pageOf(host: number, page: number): string {
  const chance = generator(host * 100_003 + page);
  const parts = [
    `<!doctype html><html lang="en"><head><title>Page ${page} of host ${host}</title></head><body><main><h1>Page ${page}</h1>`,
  ];
  for (let link = 0; link < LINKS_HOME; link++)
    parts.push(`<p>${words(chance, 12)} <a href="/p/${(page + link + 1) % PAGES}">${words(chance, 3)}</a></p>`);
  for (let link = 0; link < LINKS_AWAY; link++)
    parts.push(
      `<p><a href="http://h${Math.floor(chance() * HOSTS)}.test/p/${Math.floor(chance() * PAGES)}">${words(chance, 4)}</a></p>`,
    );
  let size = parts.reduce((sum, part) => sum + part.length, 0);
  while (size < PAGE_BYTES) {
    const paragraph = `<p class="text">${words(chance, 40)}</p>`;
    parts.push(paragraph);
    size += paragraph.length;
  }
  return `${parts.join("\n")}</main></body></html>`;
}

function words(chance: () => number, count: number): string {
  return Array.from(
    { length: count },
    () => SYLLABLES[Math.floor(chance() * SYLLABLES.length)]! + SYLLABLES[Math.floor(chance() * SYLLABLES.length)]!,
  ).join(" ");
}

/** A small linear congruential generator (the constants of Numerical Recipes): the same web for the same numbers. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
