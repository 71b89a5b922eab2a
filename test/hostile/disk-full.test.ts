// The disk is full: the crawl ends with one line that says so, nothing is half written, and with space again the next start goes on.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { wholeLinesOf, wholeSegments } from "../io/objects/whole-files.ts";
import { temporaryFolder } from "../io/stores/opened-store.ts";
import { eventsIn, inFolder } from "../lib/crawl-command.ts";
import { startWeb } from "../lib/web-server.ts";
import { filesBelow, noSmallDisks, onSmallDisk, shell } from "./faulty-machine.ts";

const CRAWL = join(import.meta.dirname, "../../pipelines/commands/crawl.ts");
const CHILD = new URL("./full-disk-child.ts", import.meta.url).pathname;
const PAGES = 60;
const AT_ONCE = 4;

/** Every page but the first is 20 KB that do not compress. */
function site(path: string): string {
  if (path === "/") return Array.from({ length: PAGES }, (_, index) => `<a href="/${index}">x</a>`).join("");
  let state = Number(path.slice(1)) + 1;
  const noise = Array.from({ length: 2000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state.toString(36);
  });
  return `<title>page</title><p>${noise.join(" ")}`;
}

async function skippedWithout(context: TestContext): Promise<boolean> {
  const why = await noSmallDisks(await temporaryFolder(context));
  if (why !== false) context.skip(why);
  return why !== false;
}

test("a crawl whose disk fills ends with exit 5 and says so; with space again it goes on", async (context) => {
  if (await skippedWithout(context)) return;
  const html = { "content-type": "text/html; charset=utf-8" };
  const web = await startWeb({
    sites: { "a.test": ({ path }) => (path === "/robots.txt" ? { status: 404 } : { headers: html, body: site(path) }) },
  });
  context.after(() => web.close());
  await inFolder(async (folder) => {
    const disk = join(folder, "disk");
    const kept = join(folder, "kept");
    await mkdir(disk);
    const crawl = `"$2" "$3" http://a.test/ --connect-to "*.test:*=127.0.0.1:${web.port}" --allow-address 127.0.0.0/8 \\
      --delay-ms 0 --idle-horizon 1 --data "$1/data"`;
    // 8 MiB hold the whole crawl; while the ballast is there its middle is reached.
    const script = `
      head -c 6600000 /dev/zero > "$1/ballast"
      ${crawl} --host-concurrency ${AT_ONCE}; echo "first $?"; rm "$1/ballast"
      timeout -s INT 8 ${crawl} --host-concurrency 64; echo "second $?"; cp -r "$1/data" "$4"`;
    const said = await onSmallDisk(8192, script, [disk, process.execPath, CRAWL, kept]);
    assert.match(said.stdout, /^first 5$/m, said.stderr);
    assert.match(said.stdout, /ended by a fault: no space is left on the disk of .*: free some, then start again/);
    assert.match(said.stdout, /^second (?:0|130|124)$/m, said.stderr);
    const urls = new Set(await wholeSegments(filesBelow(join(kept, "pages"))));
    await wholeLinesOf(filesBelow(join(kept, "documents")));
    const done = eventsIn(kept, "fetch").filter(({ outcome, kind }) => kind === "page" && outcome === "fetched");
    for (const { url } of done) assert.ok(urls.has(url), `${url} is told and not stored`);
    // Requests whose end the full disk kept from being written hold their entries, as if they still ran, until those expire.
    assert.ok(urls.size >= PAGES + 1 - AT_ONCE, `${urls.size} pages: ${said.stdout}`);
  });
});

test("stores and files on a full disk: what was acknowledged is there, the refusals are final and name the disk, and no file is torn", async (context) => {
  if (await skippedWithout(context)) return;
  const disk = await temporaryFolder(context);
  const script = `head -c 2000000 /dev/zero > "$1/ballast"; "$2" "$3" fill "$1/data"; rm "$1/ballast"; "$2" "$3" check "$1/data"`;
  const said = await onSmallDisk(4096, script, [disk, process.execPath, CHILD]);
  assert.deepEqual([said.stderr, said.code], ["", 0], said.stdout);
  assert.match(said.stdout, /store: final: no space is left on the disk of/);
  assert.match(said.stdout, /archive: final: no space is left on the disk of/);
  assert.match(said.stdout, /events: final: no space is left on the disk of/);
  assert.match(said.stdout, /all \d{2,} acknowledged writes are there/);
});

test("a folder on a disk that is full from the start is refused, and nothing is left in it", async (context) => {
  if (await skippedWithout(context)) return;
  const disk = await temporaryFolder(context);
  const script = `head -c 9999999 /dev/zero > "$1/ballast" 2>/dev/null; "$2" "$3" open "$1/data"; ls -A "$1"`;
  const said = await onSmallDisk(1024, script, [disk, process.execPath, CHILD]);
  assert.match(said.stdout, /^final: no space is left on the disk of [^\n]*\nballast\n$/);
});

test("a limit on the size of a file (ulimit -f) is a full disk to the files and a failing one to the database", async (context) => {
  const folder = await temporaryFolder(context);
  const said = await shell(`(ulimit -f 512; "$2" "$3" fill "$1/data"); "$2" "$3" check "$1/data"`, [
    folder,
    process.execPath,
    CHILD,
  ]);
  assert.deepEqual([said.stderr, said.code], ["", 0], said.stdout);
  assert.match(said.stdout, /store: final: (?:the disk of|no space)/);
  assert.match(said.stdout, /archive: final: no space is left on the disk of/);
  assert.match(said.stdout, /all \d{2,} acknowledged writes are there/);
});
