// Does a crawl's memory grow with its pages? The peak of whole crawls of growing synthetic webs, each of its own process.
import { parseArgs } from "node:util";
import { crawlSynthetic, startSyntheticWeb } from "./synthetic-crawl.ts";

const HOSTS = 40;

export async function benchMemory(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { pages: { type: "string", default: "10000,100000" } } });
  process.stdout.write(`${HOSTS} hosts; peak resident memory of the crawl's process, links only and with documents\n`);
  const first = new Map<string, number>();
  for (const wanted of values.pages.split(",").map(Number)) {
    const web = await startSyntheticWeb(String(HOSTS), String(Math.ceil(wanted / HOSTS)));
    for (const documents of ["false", "true"]) {
      const limits = ["--max-pages-per-host", String(wanted), "--max-depth", "10000"];
      const { pages, peakMb, cpuMs } = await crawlSynthetic(web.port, ["--documents", documents, ...limits]);
      if (!first.has(documents)) first.set(documents, peakMb);
      process.stdout.write(
        `documents ${documents.padEnd(6)}${String(pages).padStart(8)} pages ${peakMb.toFixed(0).padStart(6)} MB, ${(peakMb / first.get(documents)!).toFixed(2)} of the first, ${(cpuMs / pages).toFixed(2)} ms CPU a page\n`,
      );
    }
    web.stop();
  }
}
