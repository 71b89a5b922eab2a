// Does what npm run build makes run by itself, without a line of TypeScript: the demo, each command, and a worker of Flink?
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "../../pipelines/deploy/build.ts";
import { setUpCrawl } from "../lib/cloud-crawl.ts";
import { askedPaths, links, site } from "../lib/crawl-command.ts";
import { engineCrawlTests, engineStarts, startEngineCrawl, workerProgram } from "../lib/engine-crawl.ts";
import { startWeb } from "../lib/web-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const CRAWL_MS_MAX = 150_000;
let home: string;

before(() => {
  home = mkdtempSync(join(tmpdir(), "gleaner-built-"));
  build(ROOT, join(home, "dist"));
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
});
after(() => rmSync(home, { recursive: true, force: true }));

test("no TypeScript is in it, and every command tells its help", () => {
  assert.deepEqual(globSync("dist/**/*.ts", { cwd: home }), []);
  assert.ok(existsSync(join(home, "dist/tools/queries/questions/politeness.sql")));
  const commands = globSync("dist/{pipelines/commands/{crawl,daily,set-up,compact,deploy,build}.js,tools/*.js,demo/run.js}", {
    cwd: home,
  });
  assert.ok(commands.length >= 12, commands.join(" "));
  for (const command of commands) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [command, "--help"], { cwd: home, encoding: "utf8" });
    assert.equal(status, 0, `${command}: ${stderr}`);
    assert.match(stdout, /Exit codes|npm run/);
  }
});

test("the demo crawls its web and is polite", () => {
  const told = execFileSync(process.execPath, ["dist/demo/run.js", "--data", join(home, "data")], {
    cwd: home,
    encoding: "utf8",
  });
  assert.match(told, /smallest gap/i);
});

await engineCrawlTests(["flink"], () => {
  test("its worker serves as Flink's process environment", async (context) => {
    const pages = { "/": links("/a", "/b"), "/a": links("/"), "/b": links("/a") };
    const web = await startWeb({ sites: { "small.test": site(pages) } });
    context.after(() => web.close());
    const [server, cloud] = await Promise.all([engineStarts.flink(), setUpCrawl()]);
    context.after(() => server.stop());
    const worker = workerProgram(context, join(home, "dist/pipelines/container/main.js"));
    const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8", "--delay-ms", "100"];
    const engine = ["--engine", "flink", "--endpoint", server.endpoint, "--worker-command", worker.command];
    const crawl = startEngineCrawl(context, ["http://small.test/", ...way, ...cloud.flags, ...engine]);
    await crawl.until("every page was fetched", () => askedPaths(web.log).length >= 3, CRAWL_MS_MAX);
    assert.deepEqual(askedPaths(web.log).sort(), Object.keys(pages));
    assert.ok(worker.pids().length > 0);
    assert.equal((await crawl.interrupt()).code, 130);
  });
});
