// Do a day's files on one disk hold their contract? Those of Cloud Storage: gcs/gcs-contracts.test.ts.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { localDayFiles } from "../../../io/objects/day-files.ts";
import { dayFilesContract } from "./day-files-contract.ts";

async function inFolder() {
  const folder = await mkdtemp(join(tmpdir(), "day-files-"));
  return {
    files: localDayFiles(folder),
    folder,
    async put(name: string, bytes: Uint8Array) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), bytes);
    },
    found: (name: string) => readFile(join(folder, name)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

dayFilesContract("files", inFolder, { grow: true });

test("what a dead process left unfinished is not listed, and written over", async () => {
  const { files, put, close } = await inFolder();
  try {
    await put("day/file.gz.new", Buffer.from("half of one"));
    assert.deepEqual(await files.list("day"), []);
    const { name, bytes } = await files.writeLines("day/file.gz", ["whole"]);
    assert.deepEqual(await files.list("day"), [{ name, bytes }]);
  } finally {
    await close();
  }
});
