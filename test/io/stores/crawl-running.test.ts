// Is a running crawl told from one that has ended, however it ended?
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { crawlRunning } from "../../../io/stores/crawl-running.ts";
import { openTestStore, temporaryFolder } from "./opened-store.ts";

test("a folder without a crawl has none running", async (context) => {
  assert.equal(crawlRunning(join(await temporaryFolder(context), "nothing")), false);
});

test("a store that is open is a running crawl, until it is closed", async (context) => {
  const folder = await temporaryFolder(context);
  const store = await openTestStore(folder);
  assert.equal(crawlRunning(folder), true);
  await store.close();
  assert.equal(crawlRunning(folder), false);
  await (await openTestStore(folder)).close(); // the look left nothing behind
});

test("another process's crawl is seen, and no longer once it was killed", async (context) => {
  const folder = await temporaryFolder(context);
  const code = `
    import { openTestStore } from ${JSON.stringify(join(import.meta.dirname, "opened-store.ts"))};
    await openTestStore(${JSON.stringify(folder)});
    setInterval(() => {}, 1000); // an open store does not hold its process
    console.log("open");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  assert.equal(crawlRunning(folder), true);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(crawlRunning(folder), false);
});
