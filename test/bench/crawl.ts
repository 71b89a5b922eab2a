// What does a crawled page cost? The crawl command over the synthetic web, beside undici and the parsers alone, in alternation.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Cost, costOf } from "./process-cost.ts";

const here = import.meta.dirname;

interface Contender {
  name: string;
  run(): Promise<Cost & { pages: number }>;
}

export async function benchCrawl(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      hosts: { type: "string", default: "40" },
      pages: { type: "string", default: "50" },
      rounds: { type: "string", default: "3" },
    },
  });
  const web = await startSyntheticWeb(values.hosts, values.pages);
  const given = [web.port, values.hosts, values.pages];
  const contenders: Contender[] = [
    ...["fetch", "htmlparser2", "linkedom"].map((mode) => ({
      name: `undici${mode === "fetch" ? " alone" : ` + ${mode} + links`}`,
      run: () => limit(mode, given),
    })),
    { name: "gleaner, links only, power", run: () => crawl(web.port, ["--documents", "false"]) },
    { name: "gleaner, documents, power", run: () => crawl(web.port, []) },
    { name: "gleaner, documents, process", run: () => crawl(web.port, ["--durability", "process"]) },
  ];
  process.stdout.write(
    `${values.hosts} hosts of ${values.pages} pages, 29 KB each; CPU of the whole process, its start included; medians of ${values.rounds} rounds\n`,
  );
  const results = new Map<string, (Cost & { pages: number })[]>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const contender of contenders) {
      const cost = await contender.run();
      if (cost.code !== 0) process.stdout.write(`${contender.name} ended with exit code ${cost.code}\n`);
      results.set(contender.name, [...(results.get(contender.name) ?? []), cost]);
    }
  }
  web.stop();
  print(results);
}

function print(results: Map<string, (Cost & { pages: number })[]>): void {
  const perPage = (name: string): number => median((results.get(name) ?? []).map((cost) => cost.cpuMs / cost.pages));
  process.stdout.write(
    `${"".padEnd(32)}${["CPU ms/page", "pages/s", "peak MB", "pages", "x htmlparser2", "x linkedom"].map((head) => head.padStart(14)).join("")}\n`,
  );
  for (const [name, costs] of results) {
    const cpu = perPage(name);
    const columns = [
      cpu.toFixed(2),
      median(costs.map((cost) => cost.pages / cost.seconds)).toFixed(0),
      median(costs.map((cost) => cost.peakMb)).toFixed(0),
      String(Math.min(...costs.map((cost) => cost.pages))),
      (cpu / perPage("undici + htmlparser2 + links")).toFixed(2),
      (cpu / perPage("undici + linkedom + links")).toFixed(2),
    ];
    process.stdout.write(`${name.padEnd(32)}${columns.map((column) => column.padStart(14)).join("")}\n`);
  }
}

async function limit(mode: string, given: readonly string[]): Promise<Cost & { pages: number }> {
  const cost = await costOf(join(here, "limits.ts"), [mode, ...given]);
  return { ...cost, pages: (JSON.parse(cost.stdout) as { pages: number }).pages };
}

async function crawl(port: string, more: readonly string[]): Promise<Cost & { pages: number }> {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-bench-"));
  try {
    const flags = [
      "--connect-to",
      `*.test:*=127.0.0.1:${port}`,
      "--allow-address",
      "127.0.0.0/8",
      "--scope",
      "any",
      "--stop-when-idle=true",
    ];
    const pace = ["--delay-ms", "0", "--host-concurrency", "4", "--fetchers", "64", "--idle-horizon", "0", "--json"];
    const cost = await costOf(join(here, "../../pipelines/commands/crawl.ts"), [
      "http://h0.test/p/0",
      "--data",
      join(folder, "data"),
      ...flags,
      ...pace,
      ...more,
    ]);
    return { ...cost, pages: (JSON.parse(cost.stdout) as { outcomes: { fetched: number } }).outcomes.fetched };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startSyntheticWeb(hosts: string, pages: string): Promise<{ port: string; stop(): void }> {
  const child = spawn(process.execPath, [join(here, "synthetic-web.ts"), hosts, pages], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk).trim())));
  return { port, stop: () => child.stdin.end() };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
