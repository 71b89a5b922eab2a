// Is a real site crawled to its last linked page? What the crawler asked for is held against a walk of Python's html.parser.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { globSync, type Stats, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { extname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { inFolder, onStage } from "../lib/crawl-command.ts";
import { archiveIn } from "../lib/crawl-command-warc.ts";
import type { SiteAnswer, SiteHandler } from "../lib/web-server.ts";

const HOST = "docs.test";
const PAGES_MIN = 100;

interface Documentation {
  folder: string;
  start: string;
  prefix: string;
}

interface Source {
  name: string;
  /** The site, or why it cannot be had here. `scratch`: a folder for what has to be made. */
  find(scratch: string): Documentation | string | Promise<Documentation | string>;
}

const sources: readonly Source[] = [
  { name: "the book in the documentation that comes with Rust", find: rustBook },
  { name: "what pydoc makes of Python's own library", find: pydoc },
];

function rustBook(): Documentation | string {
  const toolchains = join(process.env.RUSTUP_HOME ?? join(homedir(), ".rustup"), "toolchains");
  const [folder] = globSync("*/share/doc/rust/html", { cwd: toolchains }).filter((each) =>
    statOf(join(toolchains, each, "book/index.html"))?.isFile(),
  );
  if (folder === undefined) return "no Rust documentation on this machine";
  return { folder: join(toolchains, folder), start: "/book/index.html", prefix: "/book/" };
}

async function pydoc(scratch: string): Promise<Documentation | string> {
  const folder = join(scratch, "pydoc");
  await mkdir(folder);
  const pages = Number(await python("write-pydoc.py", folder));
  if (pages < PAGES_MIN) return `this Python documents only ${pages} modules`;
  return { folder, start: "/index.html", prefix: "/" };
}

let found = 0;
for (const { name, find } of sources)
  test(`${name}: all that a walk finds is fetched, nothing else, each once, and all of it archived`, (t) =>
    inFolder(async (scratch) => {
      const lacking = pythonLacking();
      const docs = lacking ?? (await find(scratch));
      if (typeof docs === "string") return t.skip(docs);
      found++;
      await compare(docs);
    }));

test("there was a real site to crawl", (t) => {
  if (found > 0) return;
  assert.ok(!process.env.CI, "no documentation could be found or made");
  t.skip("no documentation could be found or made");
});

async function compare({ folder, start, prefix }: Documentation): Promise<void> {
  await onStage({ [HOST]: filesOf(folder) }, async ({ web, data, report }) => {
    const told = await report(0, `http://${HOST}${start}`, "--include", `http://${HOST}${prefix}**`, "--host-concurrency", "4");
    const asked = web.log.filter((entry) => entry.path !== "/robots.txt").map(({ path }) => path);
    const answers = JSON.parse(await python("walk-site.py", String(web.port), HOST, start, prefix)) as Record<string, number>;
    assert.deepEqual([...asked].sort(), Object.keys(answers).sort());

    const pages = Object.keys(answers).filter((path) => answers[path] === 200 && /(?:\/|\.html)(?:\?|$)/.test(path));
    assert.ok(pages.length > PAGES_MIN, `only ${pages.length} pages`);
    const archived = new Set(
      archiveIn(data).records.map(({ type, url }) => `${type === "revisit" ? "response" : type} ${url}`),
    );
    assert.deepEqual(
      pages.filter((path) => !archived.has(`response http://${HOST}${path}`)),
      [],
    );
    assert.equal(told.pages, asked.length);
    console.log(`${start}: ${pages.length} pages, ${asked.length} requests, ${told.pagesPerSecond} pages a second`);
  });
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain",
};

/** The files of a folder, as web servers show them: a folder redirects to its name with a slash, which shows its index.html. */
function filesOf(folder: string): SiteHandler {
  return async ({ path }): Promise<SiteAnswer> => {
    const plain = decodeURIComponent(path.split("?", 1)[0]!);
    const file = join(folder, plain.endsWith("/") ? `${plain}index.html` : plain);
    const stat = statOf(file);
    if (stat?.isDirectory()) return { status: 301, headers: { location: `${plain}/` } };
    if (!stat?.isFile()) return { status: 404, headers: { "content-type": "text/html" }, body: "none" };
    return { headers: { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }, body: await readFile(file) };
  };
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Not execFileSync: the web that is walked is served by this process. */
async function python(script: string, ...args: string[]): Promise<string> {
  const given = { timeout: 60_000, maxBuffer: 16 * 1024 * 1024 };
  return (await promisify(execFile)("python3", [join(import.meta.dirname, script), ...args], given)).stdout;
}

function pythonLacking(): string | undefined {
  try {
    execFileSync("python3", ["-c", "import html.parser, pydoc"], { stdio: "pipe" });
    return undefined;
  } catch {
    return "there is no python3 with its library";
  }
}
