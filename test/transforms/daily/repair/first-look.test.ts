import assert from "node:assert/strict";
import { test } from "node:test";
import { repairPhase } from "../../../../pipelines/daily/repair.ts";
import { tableFolder } from "../../../../schemas/daily/day-table.ts";
import { type RepairRow, repairReport } from "../../../../schemas/daily/repair.ts";
import { Findings } from "../../../../transforms/daily/repair/findings.ts";
import { firstLook } from "../../../../transforms/daily/repair/first-look.ts";
import { repairRange } from "../../../../transforms/daily/repair/repair-range.ts";
import { bundle } from "../../contexts.ts";
import { CONFIG, DAY, givenCrawl, runPhase, tableRows } from "../given.ts";

const looked = (kinds: number) => async () => {
  const found = new Findings();
  for (let each = 0; each < kinds; each++) found.add("due-missing", `url ${each}`, true);
  return found;
};

test("the first try has no earlier look, a later one has what the first one found, and not what it finds itself", async (context) => {
  const { services } = await givenCrawl(context);
  const at = { day: DAY, part: "3f" };
  assert.equal(await firstLook(services.files, at, looked(2)), undefined);
  const earlier = await firstLook(services.files, at, () => assert.fail("it looks again"));
  assert.deepEqual(earlier?.entries(), (await looked(2)()).entries());
  assert.equal(await firstLook(services.files, { ...at, part: "40" }, looked(0)), undefined);
  assert.equal(await firstLook(services.files, { ...at, part: "40" }, looked(1)), undefined, "who found nothing noted nothing");
});

test("a run that goes on after a death in the middle reports what the dead one has mended, and the report's closing clears the notes", async (context) => {
  const crawl = await givenCrawl(context);
  const urls = ["http://a.test/1", "http://a.test/2"];
  await crawl.put(...urls.map((url) => ({ url })));
  const { due } = crawl.services.tables;
  await due.drop((await due.scan({ from: "", to: "~", limit: 10 })).map(({ key }) => key));
  // All ranges are mended, and then the run dies.
  await repairRange
    .make(CONFIG, crawl.services)
    .process({ part: "all", from: "", to: "~" }, bundle<{ findings: never }>() as never);
  assert.equal((await crawl.due()).size, 2);
  const folder = tableFolder(DAY, repairReport);
  const [note] = await crawl.services.files.list(folder);
  assert.equal(note?.name, `${folder}/looked-all.json`);
  const again = bundle<{ findings: never }>();
  await repairRange.make(CONFIG, crawl.services).process({ part: "all", from: "", to: "~" }, again as never);
  const found = Object.fromEntries(again.emitted.map(({ value: { key, value } }) => [key, [value.found, value.mended]]));
  assert.deepEqual(found["due-missing"], [2, 2]);
  await runPhase(crawl.services, repairPhase);
  const rows = await tableRows<RepairRow>(crawl.services.files, repairReport);
  assert.equal(rows.length > 0, true);
  const left = (await crawl.services.files.list(folder)).map(({ name }) => name.slice(folder.length + 1));
  assert.deepEqual(left.toSorted(), ["manifest.json", "part-all.ndjson.gz", "schema.json"]);
});
