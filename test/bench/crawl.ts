// What does a crawled page cost? The crawl command over the synthetic web, beside undici and the parsers alone, in alternation.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Cost, costOf } from "./process-cost.ts";
import { crawlSynthetic, startSyntheticWeb } from "./synthetic-crawl.ts";

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
    { name: "gleaner, links only, power", run: () => crawlSynthetic(web.port, ["--documents", "false"]) },
    { name: "gleaner, documents, power", run: () => crawlSynthetic(web.port, []) },
    { name: "gleaner, documents, process", run: () => crawlSynthetic(web.port, ["--durability", "process"]) },
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
  const cost = await costOf(join(import.meta.dirname, "limits.ts"), [mode, ...given]);
  return { ...cost, pages: (JSON.parse(cost.stdout) as { pages: number }).pages };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
