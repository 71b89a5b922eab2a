// Do inspect and explain answer bad usage with one line and the right code, and --help with their codes?
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runTool } from "../../tools/lib/command.ts";
import { explainTool } from "../../tools/lib/explain-tool.ts";
import { inspectTool } from "../../tools/lib/inspect-tool.ts";
import { dataFolder } from "./data-folder.ts";

const tools = { inspect: inspectTool, explain: explainTool };
const NOWHERE = join(tmpdir(), "no-crawl-here-at-all");

const table: [tool: keyof typeof tools, args: string[], code: number, line: RegExp][] = [
  ["inspect", [], 2, /one argument is expected, not 0/],
  ["inspect", ["http://a.test/", "http://b.test/"], 2, /one argument is expected, not 2/],
  ["inspect", ["ftp://a.test/"], 2, /"ftp:\/\/a\.test\/" is not an absolute http/],
  ["inspect", [`http://a.test/${"x".repeat(3000)}`], 2, /of at most 2048 characters/],
  ["inspect", ["http://a.test/", "--depth", "3"], 2, /--depth/],
  ["inspect", ["http://a.test/", "--data", NOWHERE], 5, /holds no crawl/],
  ["explain", ["a.test/path"], 2, /neither a host name, host:port nor/],
  ["explain", ["a b"], 2, /neither a host name/],
  ["explain", ["a.test", "--data", NOWHERE], 5, /holds no crawl/],
];

for (const [tool, args, code, line] of table)
  test(`${tool} ${args.join(" ").slice(0, 40)}: code ${code} and one line`, async () => {
    const told = await runTool(tools[tool], args);
    assert.equal(told.code, code);
    assert.match(told.stderr, line);
    assert.match(told.stderr, new RegExp(`^${tool}: [^\\n]*\\n$`));
    assert.equal(told.stdout, "");
  });

test("--help tells the flags and the exit codes", async () => {
  for (const tool of [inspectTool, explainTool]) {
    const { code, stdout } = await runTool(tool, ["--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /--data DIR[\s\S]*--json[\s\S]*Exit codes: 0 known[^;]*?, 4 (?:never seen|unknown host), /);
  }
});

test("a folder whose database is another program's is named, code 5", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "tools-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "state.sqlite"), "not a database at all, and long enough to be taken for one");
  const told = await runTool(explainTool, ["a.test", "--data", folder]);
  assert.equal(told.code, 5);
  assert.match(told.stderr, /^explain: [^\n]*state\.sqlite is not a database[^\n]*\n$/);
});

test("every spelling of a host leads to its one clock", async (context) => {
  const folder = await dataFolder(context, { seeds: ["http://a.test/"], urls: [{ url: "https://a.test/x" }] });
  for (const host of ["a.test", "A.TEST", "a.test:80", "a.test:443", "http://a.test/", "https://a.test:443/y?z#f", "a.test."]) {
    const { code, stdout } = await runTool(explainTool, [host, "--json", "--data", folder]);
    assert.equal(code, 0, host);
    assert.equal(JSON.parse(stdout).paceKey, "a.test", host);
  }
  assert.equal((await runTool(explainTool, ["a.test:8080", "--data", folder])).code, 4);
});

test("the commands themselves say it and end with its code", () => {
  const table: [file: string, argument: string, code: number, out: RegExp, errors: RegExp][] = [
    ["inspect", "--help", 0, /^What is known of one URL/, /^$/],
    ["explain", "a b", 2, /^$/, /^explain: "a b" is neither/],
  ];
  for (const [file, argument, code, out, errors] of table) {
    const path = join(import.meta.dirname, `../../tools/${file}.ts`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [path, argument], { encoding: "utf8" });
    assert.equal(status, code);
    assert.match(stdout, out);
    assert.match(stderr, errors);
  }
});
