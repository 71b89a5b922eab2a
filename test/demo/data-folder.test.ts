// Does the demo wipe only what an earlier demo made, and nothing that is in use?
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freshFolder } from "../../demo/data-folder.ts";
import { openTestStore } from "../io/stores/opened-store.ts";

async function parent(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-folder-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("a new folder and an empty one are taken, and an earlier demo's is emptied", async (context) => {
  const folder = join(await parent(context), "a/b");
  assert.equal(freshFolder(folder), undefined);
  const fresh = await readdir(folder);
  await mkdir(join(folder, "pages/dt=2024-01-01"), { recursive: true });
  await writeFile(join(folder, "pages/dt=2024-01-01/x"), "x");
  assert.equal(freshFolder(folder), undefined);
  assert.deepEqual(await readdir(folder), fresh);
});

test("a folder with anything else in it is named and left as it is", async (context) => {
  const folder = await parent(context);
  await writeFile(join(folder, "state.sqlite"), "a crawl of somebody's");
  assert.match(freshFolder(folder) ?? "", /not an earlier demo's/);
  assert.deepEqual(await readdir(folder), ["state.sqlite"]);
});

test("a demo's folder in which a crawl runs is left as it is", async (context) => {
  const folder = await parent(context);
  freshFolder(folder);
  const store = await openTestStore(folder);
  context.after(() => store.close());
  const before = await readdir(folder);
  assert.match(freshFolder(folder) ?? "", /in use/);
  assert.deepEqual(await readdir(folder), before);
});

test("what is no folder is said in one line", async (context) => {
  const file = join(await parent(context), "file");
  await writeFile(file, "");
  assert.match(freshFolder(file) ?? "", /^[^\n]*file cannot be used: [^\n]+$/);
});
