// What does the crawl command say to bad input, to a folder it cannot use, and to --help and --json? One line, one exit code a cause.
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { engineFlags } from "../../pipelines/engines/engine-place.ts";
import { cloudFlags } from "../../pipelines/stores/cloud-place.ts";
import { limits } from "../../schemas/limits.ts";
import { type EndedCommand, html, inFolder, onStage, runCommand, site, startCommand } from "../lib/crawl-command.ts";

const SEED = "http://a.test/";
const CONTACT = ["--contact", "test@example.org"];
const GOOD = [SEED, ...CONTACT];
const CLOUD = [...GOOD, "--stores", "cloud", "--project", "my-project"];
const IMAGE = "europe-docker.pkg.dev/my-project/gleaner/worker:1";
const DATAFLOW = [...CLOUD, "--engine", "dataflow", "--endpoint", "a:1", "--image", IMAGE, "--region", "europe-west1"];

/** Files that a case may name, in the folder that the command runs in. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "bad-line.txt": "# seeds\nhttp://a.test/\n\nftp://b.test/\n",
  "empty.txt": "# nothing but this\n\n",
  "not-json.json": "{",
  "no-version.json": '{"hosts": []}',
  "version-0.json": '{"version": 0, "hosts": []}',
  "no-hosts.json": '{"version": 1}',
  "null.json": "null",
  "host-text.json": '{"version": 1, "hosts": ["a.test"]}',
  "no-host.json": '{"version": 1, "hosts": [{"host": "a.test"}, {"delayMs": 1}]}',
  "upper.json": '{"version": 1, "hosts": [{"host": "A.test"}]}',
  "unknown-field.json": '{"version": 1, "hosts": [{"host": "a.test", "delay": 5}]}',
  "delay-text.json": '{"version": 1, "hosts": [{"host": "a.test", "delayMs": "5"}]}',
  "delay-negative.json": '{"version": 1, "hosts": [{"host": "a.test", "delayMs": -5}]}',
  "concurrency-0.json": '{"version": 1, "hosts": [{"host": "a.test", "concurrency": 0}]}',
  "pages-half.json": '{"version": 1, "hosts": [{"host": "a.test", "pagesMax": 1.5}]}',
  "paused-text.json": '{"version": 1, "hosts": [{"host": "a.test", "paused": "yes"}]}',
};

/** What is given, and what the line must say: the input, and what is allowed. */
const cases: [args: string[], ...said: (string | RegExp)[]][] = [
  [[], "--contact", "required"],
  [CONTACT, "no seed", "URL"],
  [[SEED], "--contact", "required"],
  [[SEED, "--contact", "me"], '--contact "me"', "URL", "mail address"],
  [[SEED, "--contact", "ftp://a.test"], "--contact", "ftp://a.test"],
  [[SEED, "--contact", `a@${"b".repeat(250)}.org`], "--contact", "mail address"],
  [[...GOOD, "--allow-address"], "--allow-address", "--help"],
  [[SEED, "--allow-address", "10.0.0.0/8"], "--contact", "required"],
  [[...GOOD, "--bogus"], "--bogus", "--help"],
  [[...GOOD, "-x"], "-x", "--help"],
  [[...GOOD, "--sitemaps=yes"], "--sitemaps", "--help"],
  [[...GOOD, "--json=1"], "--json", "--help"],
  [[...GOOD, "--verbose=1"], "--verbose", "--help"],
  ...["data", "seeds", "scope", "include", "max-pages", "delay-ms", "policies"].map((flag): [string[], string, string] => [
    [...GOOD, `--${flag}`],
    `--${flag}`,
    "--help",
  ]),
  // seeds
  [["a.test", ...CONTACT], '"a.test"', "on the command line", "absolute http:// or https://"],
  [["ftp://a.test/", ...CONTACT], '"ftp://a.test/"', "absolute http:// or https://"],
  [["http://", ...CONTACT], '"http://"', "on the command line"],
  [["http://a.test:99999/", ...CONTACT], '"http://a.test:99999/"'],
  [["javascript:alert(1)", ...CONTACT], "javascript:", "absolute http:// or https://"],
  [[`http://a.test/${"x".repeat(limits.urlLength)}`, ...CONTACT], "http://a.test/xxx", String(limits.urlLength)],
  [["", ...CONTACT], '""', "absolute http:// or https://"],
  [["http://a.test/\nb", "http://\n", ...CONTACT], '"http://\\n"'],
  [[...GOOD, "--seeds", "bad-line.txt"], '"ftp://b.test/"', "bad-line.txt, line 4", "absolute http:// or https://"],
  [[...CONTACT, "--seeds", "empty.txt"], "--seeds empty.txt", "one a line"],
  [[...GOOD, "--seeds", "absent.txt"], "--seeds absent.txt", "ENOENT"],
  [[...GOOD, "--seeds", "."], "--seeds .", "EISDIR"],
  // words and numbers
  [[...GOOD, "--scope", "site"], '--scope "site"', "host, domain, any"],
  [[...GOOD, "--durability", "none"], '--durability "none"', "power, process"],
  [[...GOOD, "--documents", "no"], '--documents "no"', "true, false"],
  [[...GOOD, "--stop-when-idle", "0"], '--stop-when-idle "0"', "true, false"],
  [[...GOOD, "--max-pages", "0"], '--max-pages "0"', "1 or more"],
  [[...GOOD, "--max-pages", "1e3"], '--max-pages "1e3"', "whole number"],
  [[...GOOD, "--max-pages=-1"], '--max-pages "-1"', "1 or more"],
  [[...GOOD, "--max-pages-per-host", "0"], '--max-pages-per-host "0"', "1 or more"],
  [[...GOOD, "--max-depth", "10001"], '--max-depth "10001"', "from 0 to 10000"],
  [[...GOOD, "--max-depth", "x"], '--max-depth "x"', "from 0 to 10000"],
  [[...GOOD, "--delay-ms", "1.5"], '--delay-ms "1.5"', "whole number"],
  [[...GOOD, "--delay-ms", "86400001"], '--delay-ms "86400001"', "86400000"],
  [[...GOOD, "--host-concurrency", "0"], '--host-concurrency "0"', "from 1 to 64"],
  [[...GOOD, "--host-concurrency", "65"], '--host-concurrency "65"', "from 1 to 64"],
  [[...GOOD, "--timeout-ms", "99"], '--timeout-ms "99"', "from 100 to 300000"],
  [[...GOOD, "--timeout-ms", "300001"], '--timeout-ms "300001"', "from 100 to 300000"],
  [[...GOOD, "--fetchers", "0"], '--fetchers "0"', "from 1 to 10000"],
  [[...GOOD, "--fetchers", "10001"], '--fetchers "10001"', "from 1 to 10000"],
  [[...GOOD, "--idle-horizon", "1s"], '--idle-horizon "1s"', "whole number from 0"],
  // pace without permission
  [[...GOOD, "--delay-ms", "999"], "--delay-ms 999", "--allow-address", "--policies"],
  [[...GOOD, "--host-concurrency", "2"], "--host-concurrency 2", "--allow-address", "--policies"],
  // patterns, addresses, names
  [[...GOOD, "--include", ""], '--include ""', "empty"],
  [[...GOOD, "--exclude", "a b"], '--exclude "a b"', "space"],
  [[...GOOD, "--exclude", "/private/**"], '--exclude "/private/**"', "http://, https:// nor a wildcard"],
  [[...GOOD, "--include", `http://${"x".repeat(3000)}`], "--include", String(limits.urlLength)],
  [[...GOOD, "--allow-address", "10.0.0.0/33"], "--allow-address", "10.0.0.0/33", "127.0.0.0/8"],
  [[...GOOD, "--allow-address", "localhost"], "--allow-address", "localhost", "127.0.0.0/8"],
  [[...GOOD, "--connect-to", "a.test"], "--connect-to", "a.test", "PATTERN=HOST:PORT"],
  [[...GOOD, "--connect-to", "a.test=b.test"], "--connect-to", "HOST:PORT"],
  [[...GOOD, "--connect-to", "a.test=b.test:0"], "--connect-to", "1 to 65535"],
  [[...GOOD, "--accept-types", "pdf"], '--accept-types "pdf"', "application/pdf"],
  [[...GOOD, "--accept-types", "image/*,"], '--accept-types ""', "image/*"],
  [[...GOOD, "--user-agent", "7bot"], '--user-agent "7bot"', "product token"],
  [[...GOOD, "--user-agent", "bot\u00e9"], "--user-agent", "ASCII"],
  [[...GOOD, "--user-agent", ""], '--user-agent ""', "product token"],
  // policies
  [[...GOOD, "--policies", "absent.json"], "--policies absent.json", "ENOENT"],
  [[...GOOD, "--policies", "not-json.json"], "--policies not-json.json", "not JSON"],
  ...["no-version", "version-0", "null"].map((name): [string[], string, string] => [
    [...GOOD, "--policies", `${name}.json`],
    `--policies ${name}.json`,
    '"version" must be a whole number of 1 or more',
  ]),
  [[...GOOD, "--policies", "no-hosts.json"], "--policies no-hosts.json", '"hosts" must be a list'],
  [[...GOOD, "--policies", "host-text.json"], "hosts[0]", 'an object with "host"'],
  [[...GOOD, "--policies", "no-host.json"], "hosts[1]", '"host" must be a host name'],
  [[...GOOD, "--policies", "upper.json"], "hosts[0]", "lower case"],
  [[...GOOD, "--policies", "unknown-field.json"], "hosts[0]", '"delay" is none of host, delayMs'],
  [[...GOOD, "--policies", "delay-text.json"], '"delayMs" must be a whole number of 0 or more'],
  [[...GOOD, "--policies", "delay-negative.json"], '"delayMs" must be a whole number of 0 or more'],
  [[...GOOD, "--policies", "concurrency-0.json"], '"concurrency" must be a whole number of 1 or more'],
  [[...GOOD, "--policies", "pages-half.json"], '"pagesMax" must be a whole number of 0 or more'],
  [[...GOOD, "--policies", "paused-text.json"], '"paused" must be true or false'],
  // stores and engines
  [[...GOOD, "--stores", "s3"], '--stores "s3"', "local, cloud"],
  [[...GOOD, "--stores", "cloud"], "--stores cloud needs --project"],
  [[...GOOD, "--project", "my-project"], "--project", "for --stores cloud"],
  [[...CLOUD, "--data", "d"], "--data is for --stores local"],
  [[...GOOD, "--stores", "cloud", "--project", "My"], '--project "My"', "6 to 30"],
  [[...CLOUD, "--instance", "i"], '--instance "i"', "6 to 33"],
  [[...CLOUD, "--bucket", "gs://b"], '--bucket "gs://b"', "3 to 63"],
  [[...CLOUD, "--crawl", "google"], '--crawl "google"', "2 to 30"],
  [[...CLOUD, "--app-profile", "a b"], '--app-profile "a b"', "1 to 50"],
  [[...CLOUD, "--engine", "spark"], '--engine "spark"', "embedded, prism, flink, dataflow"],
  [[...CLOUD, "--engine", "prism", "--endpoint", "8073"], "--endpoint HOST:PORT", '"8073"'],
  [[...CLOUD, "--engine", "prism", "--endpoint", "a:1", "--job-name", "A"], '--job-name "A"', "small letters"],
  [[...CLOUD, "--worker-command", "w"], "--worker-command is for --engine prism or flink"],
  [[...DATAFLOW, "--worker-command", "w"], "--worker-command is for --engine prism or flink"],
  [[...CLOUD, "--engine", "flink", "--endpoint", "a:1", "--update"], "--update is for --engine dataflow"],
  [[...CLOUD, "--engine", "dataflow", "--endpoint", "a:1"], "--engine dataflow needs --image", "NAME:TAG"],
  [[...CLOUD, "--engine", "dataflow", "--endpoint", "a:1", "--image", IMAGE], "--engine dataflow needs --region"],
  [[...GOOD, "--engine", "dataflow", "--endpoint", "a:1"], "--engine dataflow needs --stores cloud"],
  [[...DATAFLOW, "--image", "pkg.dev/worker"], '--image "pkg.dev/worker"', "@sha256:DIGEST"],
  [[...DATAFLOW, "--image", "worker:1"], '--image "worker:1"', "REGISTRY"],
  [[...DATAFLOW, "--region", "europe"], '--region "europe"', "europe-west1"],
  [[...DATAFLOW, "--service-account", "me@example.org"], '--service-account "me@example.org"', ".iam.gserviceaccount.com"],
  [[...DATAFLOW, "--subnetwork", "crawl"], '--subnetwork "crawl"', "regions/REGION/subnetworks/NAME"],
  [[...DATAFLOW, "--public-ips", "no"], '--public-ips "no"', "true or false"],
  [[...DATAFLOW, "--machine-type", "big"], '--machine-type "big"', "n2-standard-4"],
  [[...DATAFLOW, "--workers", "0"], '--workers "0"', "from 1 to 4000"],
  [[...DATAFLOW, "--max-workers", "4001"], '--max-workers "4001"', "from 1 to 4000"],
  [[...DATAFLOW, "--workers", "3", "--max-workers", "2"], "--workers 3 is more than --max-workers 2"],
  [[...DATAFLOW, "--update=1"], "--update", "--help"],
  [[...DATAFLOW, "--update", "--template", "job.json"], "--update", "template"],
  [[...DATAFLOW, "--template", "gs://bucket"], '--template "gs://bucket"', "gs://BUCKET/OBJECT"],
  [[...DATAFLOW, "--template", "gs://bucket/folder/"], '--template "gs://bucket/folder/"', "gs://BUCKET/OBJECT"],
  [[...DATAFLOW, "--template", "absent/job.json"], '--template "absent/job.json"', "no folder", "absent"],
];

const ABREAST = 3; // commands at once: a start is mostly reading files

test("bad input is told in one line, exit 2, and nothing is written", { timeout: 180_000 }, async (t) => {
  await inFolder(async (folder) => {
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content);
    const waiting = [...cases];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [args, ...said] = next;
        const end = await runCommand(args, folder);
        await t.test(args.join(" ").slice(0, 100) || "nothing at all", () => assertOneLine(end, 2, said));
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, work));
    assert.deepEqual((await readdir(folder)).sort(), Object.keys(FILES).sort());
  });
});

test("each flag of the table has a case with a bad value, and the help tells all of them", async () => {
  const flags = await flagsOfTable();
  assert.ok(flags.length > 20, "the table of flags was not read");
  const tried = new Set(cases.flatMap(([args]) => args.map((arg) => /^--([a-z-]+)/.exec(arg)?.[1])));
  assert.deepEqual(
    flags.filter((flag) => !tried.has(flag) && flag !== "help"),
    [],
  );
  await inFolder(async (folder) => {
    for (const flag of ["--help", "-h"]) {
      const { code, stdout, stderr } = await runCommand([flag, "--data", join(folder, "data")], folder);
      assert.deepEqual([code, stderr], [0, ""]);
      const told = [...stdout.matchAll(/^ {2}(?:-h, )?--([a-z-]+)/gm)].map(([, name]) => name!);
      assert.deepEqual(told.sort(), [...flags].sort());
    }
    assert.deepEqual(await readdir(folder), []);
  });
});

/** Names of the flags, from the text of the table: it is not exported. */
/** Those of the command's own table, and of the two that it takes in. */
async function flagsOfTable(): Promise<string[]> {
  const source = await readFile(join(import.meta.dirname, "../../pipelines/options.ts"), "utf8");
  const table = /^const flags = \{\n([\s\S]*?)^\} as const/m.exec(source)?.[1] ?? "";
  const own = [...table.matchAll(/^ {2}"?([a-z-]+)"?: \{ type:/gm)].map(([, name]) => name!);
  return [...own, ...Object.keys(cloudFlags), ...Object.keys(engineFlags)];
}

interface Unusable {
  situation: string;
  said: (string | RegExp)[];
  /** Makes the folder what it is. Gives the --data value, where it is another. */
  make(data: string): Promise<string | undefined>;
  /** Why it cannot be shown here. */
  skip?: string | false;
}

const unusable: readonly Unusable[] = [
  {
    situation: "a folder of another version",
    said: [/another version/, /"99"/, /another folder/],
    make: (data) =>
      database(data, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('format', '99')"),
  },
  {
    situation: "a database of another program",
    said: [/not a database of this program/],
    make: (data) => database(data, "CREATE TABLE x (y)"),
  },
  {
    situation: "a damaged database",
    said: [/state\.sqlite is (?:damaged|not a database)/],
    make: (data) => file(data, "state.sqlite", "nonsense ".repeat(1000)),
  },
  {
    situation: "a file in the folder's place",
    said: [/cannot be written|is not a folder/],
    make: (data) => writeFile(data, "").then(() => undefined),
  },
  {
    situation: "a folder below a file",
    said: [/cannot be written|is not a folder/],
    make: (data) => writeFile(data, "").then(() => join(data, "below")),
  },
  {
    situation: "a folder that must not be written",
    said: [/cannot be written/],
    make: (data) =>
      mkdir(data)
        .then(() => chmod(data, 0o500))
        .then(() => undefined),
    skip: process.getuid?.() === 0 && "root may write everywhere",
  },
  {
    situation: "a folder where nobody may make files",
    said: [/^gleaner: \/proc cannot be written/],
    make: async () => "/proc",
    skip: process.platform !== "linux" && "only Linux has such a place for root too",
  },
];

for (const { situation, said, make, skip } of unusable)
  test(`${situation}: one line, exit 5, nothing changed`, { skip: skip ?? false }, () =>
    inFolder(async (folder) => {
      const data = (await make(join(folder, "data"))) ?? join(folder, "data");
      const before = await contentsOf(folder);
      assertOneLine(await runCommand([...GOOD, "--data", data], folder), 5, said);
      assert.deepEqual(await contentsOf(folder), before);
    }),
  );

async function database(data: string, sql: string): Promise<undefined> {
  await mkdir(data);
  const made = new DatabaseSync(join(data, "state.sqlite"));
  made.exec(sql);
  made.close();
}

async function file(data: string, name: string, content: string): Promise<undefined> {
  await mkdir(data);
  await writeFile(join(data, name), content);
}

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(files.map(async (name) => [name, await readFile(name, "base64")] as const)));
}

test("a folder in use by another crawl: one line, exit 5, and the other goes on", async () => {
  let asked: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const slow = ({ path }: { path: string }) => {
    if (path === "/") asked();
    return path === "/" ? { headers: html, body: "here at last", delayMs: 4000 } : { status: 404 };
  };
  await onStage({ "a.test": slow }, async ({ data, flags, crawl }) => {
    const first = startCommand([SEED, ...flags]);
    await arrived;
    assertOneLine(await crawl(SEED), 5, [data, "in use", "another folder"]);
    assert.equal((await first.ended).code, 0);
  });
});

test("--json: one object on stdout and the rest on stderr; without it the report is on stdout", () =>
  onStage({ "a.test": site({ "/": "<title>a</title>" }) }, async ({ data, crawl }) => {
    const told = await crawl("--json", "--verbose", SEED);
    assert.equal(told.code, 0, told.stderr);
    assert.match(told.stdout, /^\{.*\}\n$/);
    const { cause, pages, output } = JSON.parse(told.stdout);
    assert.deepEqual([cause, pages, output.pages], ["done", 1, join(data, "pages")]);
    assert.match(told.stderr, /The crawl is done/);
    assert.match((await crawl(SEED)).stdout, /^The crawl is done/);
  }));

/** Exactly one line on stderr, nothing on stdout. */
function assertOneLine({ code, stdout, stderr }: EndedCommand, want: number, said: readonly (string | RegExp)[]): void {
  assert.equal(stdout, "");
  assert.match(stderr, /^gleaner: [^\n]+\n$/);
  for (const part of said)
    assert.ok(
      typeof part === "string" ? stderr.includes(part) : part.test(stderr),
      `${String(part)} is not said in: ${stderr}`,
    );
  assert.equal(code, want, stderr);
}
