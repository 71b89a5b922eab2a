// What does a process do whose disk fills? `fill` writes until every output refuses, `check` looks whether all is there that was acknowledged.
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../io/clock.ts";
import { fileArchive } from "../../io/objects/archive-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { fileLines } from "../../io/objects/lines-files.ts";
import { systemRandom } from "../../io/random.ts";
import type { StoredAt } from "../../ports/archive.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { page, warcinfo } from "../io/objects/given.ts";
import { wholeLinesOf, wholeSegments } from "../io/objects/whole-files.ts";
import { openTestStore } from "../io/stores/opened-store.ts";
import { filesBelow } from "./faulty-machine.ts";

const [, , command, data] = process.argv as [string, string, string, string];
const WRITES_MAX = 3000; // far beyond any small disk
const clock = systemClock();
const random = systemRandom();
/** Beside the full disk: what was acknowledged. */
const NOTES = join(process.env.TMPDIR ?? "/tmp", `full-disk-${Buffer.from(data).toString("hex").slice(-60)}`);

if (command === "open") await attempt("", () => openTestStore(data).then((store) => store.close()));
if (command === "fill") await fill();
if (command === "check") await check();

async function opened() {
  const store = await openTestStore(data, { durability: "power" });
  const given = { files: realFiles, clock, random, durability: "power" } as const;
  const archive = await fileArchive({ ...given, folder: join(data, "pages"), warcinfo });
  const events = await fileLines({ ...given, folder: join(data, "events"), gzip: false });
  return { store, archive, events };
}

async function fill(): Promise<void> {
  const { store, archive, events } = await opened();
  const noise = (): string => Array.from({ length: 400 }, () => random.token()).join("");
  await untilRefused("store", async (name) => {
    await store.table("urls").insertIfAbsent([{ key: name, rev: "1", value: Buffer.from(noise()) }]);
    return name;
  });
  await untilRefused("archive", async (name) => JSON.stringify((await archive.append(page(name, noise()))).at(-1)));
  await untilRefused("events", async (name) => {
    await events.append([JSON.stringify({ name, noise: noise() })]);
    return name;
  });
  await Promise.allSettled([archive.close(), events.close(), store.close()]);
}

/** Notes down what each acknowledged write is found by, and says how the first refusal reads. */
async function untilRefused(output: string, write: (name: string) => Promise<string>): Promise<void> {
  for (let turn = 0; turn < WRITES_MAX; turn++) {
    let found: string | undefined;
    const refused = await attempt(`${output}: `, async () => {
      found = await write(`${output}-${turn}`);
    });
    if (refused) return;
    appendFileSync(NOTES, `${output} ${found}\n`);
  }
  console.log(`${output} was never refused`);
}

async function attempt(prefix: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    const kind = error instanceof StoreError ? (error.final ? "final" : "for now") : "not a StoreError";
    console.log(`${prefix}${kind}: ${(error as Error).message}`);
    return true;
  }
}

async function check(): Promise<void> {
  const { store, archive, events } = await opened();
  const notes = readFileSync(NOTES, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(/ (.*)/) as [string, string]);
  const lines = new Set((await wholeLinesOf(filesBelow(join(data, "events")))).map((line) => JSON.parse(line).name));
  rmSync(NOTES);
  const missing: string[] = [];
  for (const [output, found] of notes) {
    const there =
      output === "store"
        ? (await store.table("urls").get([found]))[0] !== undefined
        : output === "archive"
          ? (await archive.read(JSON.parse(found) as StoredAt)).length > 0
          : lines.has(found);
    if (!there) missing.push(found);
  }
  await wholeSegments(filesBelow(join(data, "pages")));
  // Each goes on, in this very folder.
  await store.table("urls").insertIfAbsent([{ key: "again", rev: "1", value: new Uint8Array(9) }]);
  await archive.append(page("again"));
  await events.append(['{"again":true}']);
  await Promise.all([archive.close(), events.close(), store.close()]);
  console.log(missing.length === 0 ? `all ${notes.length} acknowledged writes are there` : `missing: ${missing.join()}`);
}
