// No file handle is left: servers are not blamed while idle connections have some to give, outputs refuse with a line, pages wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { httpAnswer, rawServer } from "../io/http/fixtures.ts";
import { temporaryFolder } from "../io/stores/opened-store.ts";
import { shell } from "./faulty-machine.ts";

test("a process with a hundred handles reaches more servers than that, and says what it cannot do without one", async (context) => {
  const server = await rawServer(context, httpAnswer("hello"));
  const folder = await temporaryFolder(context);
  const child = new URL("./handles-child.ts", import.meta.url).pathname;
  const said = await shell(`ulimit -n 100; exec "$1" "$2" "$3" "$4"`, [process.execPath, child, folder, String(server.port)]);
  assert.deepEqual([said.stderr, said.code], ["", 0], said.stdout);
  const lines = said.stdout.trim().split("\n");
  assert.deepEqual(lines.slice(0, 1), ["answered 150"]);
  assert.match(lines[1]!, /^starved: connect, 127\.0\.0\.1:\d+: no file handle is left on this machine/);
  assert.equal(lines[2], "fed: true");
  assert.match(lines[3]!, /^file: true no file handles are left for .*: raise ulimit -n/);
  assert.deepEqual(lines.slice(4), ["files left: 1", "parsers: busy busy parsed parsed"]);
});
