import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { QueueMessage } from "../../../ports/queue.ts";
import { openTestStore, temporaryFolder } from "./opened-store.ts";

// Lines said before the kill; the moment within a commit is left to chance.
const kills: [lines: number, flags: string[]][] = [
  [50, []],
  [1500, ["--power"]],
  [4000, []],
];

const CHILD_MS_MAX = 15_000; // one that never says enough is ended, and the test fails

test("after each kill -9 every acknowledged write is there, and the folder opens at once", async (context) => {
  const folder = await temporaryFolder(context);
  const acknowledged = { revs: new Map<string, number>(), published: new Set<string>(), removed: new Set<string>() };
  for (const [lines, flags] of kills) {
    for (const line of await saidUntilKilled(folder, lines, flags)) note(acknowledged, line);
    await check(folder, acknowledged);
  }
  assert.ok(acknowledged.revs.size > 500 && acknowledged.removed.size > 100);
});

interface Acknowledged {
  revs: Map<string, number>;
  published: Set<string>;
  removed: Set<string>;
}

async function saidUntilKilled(folder: string, lines: number, flags: string[]): Promise<string[]> {
  const script = new URL("./store-child.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, "write", folder, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: CHILD_MS_MAX,
  });
  const exited = once(child, "exit");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) child.kill("SIGKILL");
  }
  assert.deepEqual(await exited, [null, "SIGKILL"]);
  return said;
}

function note({ revs, published, removed }: Acknowledged, line: string): void {
  const [what, name, rev] = line.split(" ");
  if (what === "row" && rev !== undefined) revs.set(name!, Math.max(revs.get(name!) ?? 0, Number(rev)));
  if (what === "published") published.add(name!);
  if (what === "acknowledged") removed.add(name!);
}

async function check(folder: string, { revs, published, removed }: Acknowledged): Promise<void> {
  const store = await openTestStore(folder);
  const keys = [...revs.keys()];
  for (const [at, row] of (await store.table("urls").get(keys)).entries()) {
    const rev = revs.get(keys[at]!)!;
    assert.ok(row !== undefined && Number(row.rev) >= rev, `${keys[at]} had rev ${rev}, now ${row?.rev}`);
    assert.equal(row.value.length, Number(row.rev) * 100);
  }
  const standing = await pulledAll(store.queue("host"));
  const bodies = standing.map(({ body }) => Buffer.from(body).toString());
  assert.equal(await store.queue("host").depth(), standing.length);
  assert.equal(new Set(bodies).size, bodies.length);
  for (const name of removed) assert.ok(!bodies.includes(name), `${name} was acknowledged and came again`);
  // An acknowledgement may be committed without its line: one for each writer of each killed child.
  const missing = [...published].filter((name) => !removed.has(name) && !bodies.includes(name));
  assert.ok(missing.length <= kills.length * 16, `${missing.length} published messages are gone`);
  await store.close();
}

async function pulledAll(queue: { pull(max: number): Promise<QueueMessage[]> }): Promise<QueueMessage[]> {
  const all: QueueMessage[] = [];
  for (let page = await queue.pull(500); page.length > 0; page = await queue.pull(500)) all.push(...page);
  return all;
}
