// What does a process do that runs out of file handles? Run under a low ulimit -n: sockets, output files and parsers, and each again with handles.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../io/clock.ts";
import { undiciHttp } from "../../io/http/undici-http.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { fileLines } from "../../io/objects/lines-files.ts";
import { workerParser } from "../../io/parsing/pool.ts";
import { systemRandom } from "../../io/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { ranges, realClock, tableResolver } from "../io/http/fixtures.ts";

const [, , folder, port] = process.argv as [string, string, string, string];
const clock = systemClock();
const ORIGINS = 150; // more than there are handles

await sockets();
await files();
await parsers();

/** Kept connections to many servers give their handles to new ones. */
async function sockets(): Promise<void> {
  const metrics = { count() {}, gauge() {}, observe() {} };
  const connectTo = () => ({ host: "127.0.0.1", port: Number(port) });
  const http = undiciHttp({ clock, metrics, connectTo, resolver: tableResolver({}), allow: ranges("127.0.0.1"), fetchers: 50 });
  const limits = { totalMs: 5000, headersMs: 2000, headerBytes: 16_384 };
  let answered = 0;
  for (let at = 0; at < ORIGINS; at++) {
    const connected = await http.connect(`http://host-${at}.test/`, limits);
    if (!connected.ok) console.log(`host ${at}: ${connected.detail}`);
    const answer = connected.ok ? await connected.send({ headers: {}, sendBy: realClock.now() + 1000 }) : undefined;
    if (answer?.ok && (await answer.body({ wireBytes: 100, decodedBytes: 100 })).ok) answered++;
  }
  console.log(`answered ${answered}`);
  await http.close();
  const taken = takeAll();
  const none = await http.connect("http://closed.test/", limits);
  const other = undiciHttp({ clock, metrics, connectTo, resolver: tableResolver({}), allow: ranges("127.0.0.1"), fetchers: 5 });
  const starved = await other.connect("http://starved.test/", { ...limits, totalMs: 300 });
  console.log(`starved: ${!none.ok && !starved.ok && `${starved.reason}, ${starved.detail}`}`);
  giveBack(taken);
  const fed = await other.connect("http://fed.test/", limits);
  if (fed.ok) fed.release();
  console.log(`fed: ${fed.ok}`);
  await other.close();
}

async function files(): Promise<void> {
  const lines = await fileLines({
    folder: join(folder, "events"),
    files: realFiles,
    clock,
    random: systemRandom(),
    durability: "process",
    gzip: false,
  });
  const taken = takeAll();
  await lines
    .append(["{}"])
    .catch((error) => console.log(`file: ${error instanceof StoreError && error.final} ${error.message}`));
  giveBack(taken);
  await lines.append(["{}"]);
  await lines.close();
  console.log(
    `files left: ${(await realFiles.list(join(folder, "events", new Date().toISOString().slice(0, 10).replace(/^/, "dt=")))).length}`,
  );
}

async function parsers(): Promise<void> {
  const request = { url: "http://a.test/", contentType: "text/html", robotsTags: [], productToken: "x", document: true };
  const parse = (bytes: number) => parser.parse({ ...request, bytes: Buffer.alloc(bytes, "x") });
  const parser = workerParser({ workers: 1, timeMs: 5000, memoryMb: 128, queueMax: 9, largeBytes: 1000, clock });
  const taken = takeAll();
  const without = [await parse(10), await parse(2000)];
  giveBack(taken);
  const within = [await parse(10), await parse(2000)];
  console.log(`parsers: ${[...without, ...within].map((page) => (page.ok ? "parsed" : page.reason)).join(" ")}`);
  await parser.close();
}

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    return taken; // no more are left
  }
}

function giveBack(taken: readonly number[]): void {
  for (const each of taken) closeSync(each);
}
