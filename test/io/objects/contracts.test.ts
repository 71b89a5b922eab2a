// Do the archives and lines of memory and of files hold their contracts? Those of Cloud Storage: gcs/gcs-contracts.test.ts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fileArchive } from "../../../io/objects/archive-files.ts";
import { realFiles } from "../../../io/objects/file-layer.ts";
import { fileLines } from "../../../io/objects/lines-files.ts";
import { memoryArchive, memoryLines } from "../../../io/objects/memory.ts";
import { archiveContract } from "../../contracts/archive.ts";
import { linesContract } from "../../contracts/lines.ts";
import { givenClock, givenRandom, warcinfo } from "./given.ts";

archiveContract("memory", async () => ({ archive: memoryArchive(), close: async () => {} }));
linesContract("memory", async () => {
  const lines = memoryLines();
  return { lines, written: async () => [[...lines.lines]], close: async () => {} };
});

async function inFolder() {
  const folder = await mkdtemp(join(tmpdir(), "gleaner-contract-"));
  const given = { folder, files: realFiles, clock: givenClock(), random: givenRandom(1), durability: "process" as const };
  return { given, close: () => rm(folder, { recursive: true }) };
}

archiveContract("files", async () => {
  const { given, close } = await inFolder();
  return { archive: await fileArchive({ ...given, warcinfo }), close };
});

for (const gzip of [false, true])
  linesContract(`files, gzip ${gzip}`, async () => {
    const { given, close } = await inFolder();
    return { lines: await fileLines({ ...given, gzip }), written: () => linesBelow(given.folder, gzip), close };
  });

async function linesBelow(folder: string, gzip: boolean): Promise<string[][]> {
  const parts: string[][] = [];
  for (const day of await realFiles.list(folder))
    for (const name of await realFiles.list(join(folder, day))) {
      const bytes = await realFiles.read(join(folder, day, name), 0, Number.MAX_SAFE_INTEGER);
      parts.push((gzip ? gunzipSync(bytes) : Buffer.from(bytes)).toString().split("\n").slice(0, -1));
    }
  return parts;
}
