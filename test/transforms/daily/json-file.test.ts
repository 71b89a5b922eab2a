import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonFile } from "../../../transforms/daily/json-file.ts";
import { givenCrawl } from "./given.ts";

test("a file's first line is its JSON; no file is undefined, an empty one null, and what is no JSON is refused", async (context) => {
  const { files } = (await givenCrawl(context)).services;
  assert.equal(await jsonFile(files, "daily/none.json"), undefined);
  await files.writeLines("daily/some.json", ['{"a":1}']);
  assert.deepEqual(await jsonFile(files, "daily/some.json"), { a: 1 });
  await files.writeLines("daily/empty.json", []);
  assert.equal(await jsonFile(files, "daily/empty.json"), null);
  await files.writeLines("daily/bad.json", ["{"]);
  await assert.rejects(jsonFile(files, "daily/bad.json"), SyntaxError);
});
