import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { type JobServerProgram, startJobServer } from "./job-server.ts";
import { needed, onPath } from "./machine.ts";

const SERVER = join(import.meta.dirname, "job-server-child.ts");
const ready = (port: number) => [SERVER, `${port}`];

const program = (args: JobServerProgram["args"], answerMsMax = 20_000): JobServerProgram => ({
  ...{ told: "a job server", program: process.execPath, args, answerMsMax },
});

test("a job server answers when it is given, and is gone when it is stopped", async () => {
  const server = await startJobServer(program(ready));
  assert.match(server.endpoint, /^127\.0\.0\.1:\d+$/);
  assert.equal(server.alive(), true);
  process.kill(server.pid, 0);
  await server.stop();
  await server.stop();
  assert.equal(server.alive(), false);
  assert.throws(() => process.kill(server.pid, 0), /ESRCH/);
});

test("one that ends at its start is an error with what it printed", async () => {
  const failing = program(() => ["-e", "console.error('no such flag'); process.exit(3)"]);
  await assert.rejects(startJobServer(failing), /^Error: a job server ended \(3\)\. It printed:\nno such flag$/);
});

test("one that never answers is ended, and an error", async () => {
  const silent = program(() => ["-e", "setInterval(() => {}, 1000); console.log('thinking')"], 600);
  await assert.rejects(startJobServer(silent), /a job server did not answer within 0\.6 s \(.+\)\. It printed:\n/);
});

function folderWith(context: TestContext, name: string, mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-path-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), "");
  chmodSync(join(folder, name), mode);
  return folder;
}

test("a program of PATH is found, the first that can be run", (context) => {
  const [plain, runnable] = [folderWith(context, "tool", 0o644), folderWith(context, "tool", 0o755)];
  assert.equal(onPath("tool", `${plain}${delimiter}${runnable}`.split(delimiter)), join(runnable, "tool"));
  assert.equal(onPath("tool", [plain]), undefined);
  assert.throws(() => needed("no-such-tool-anywhere", "Prism"), /no no-such-tool-anywhere on this machine, which Prism needs/);
});
