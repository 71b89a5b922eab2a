// What does clustering cost? Time, memory and spilled bytes of the real pipeline on the embedded engine, by the number of documents.
import { join } from "node:path";
import { costOf } from "../process-cost.ts";
import { type ClusterCost, clusterInThisProcess } from "./cluster-child.ts";
import { shares } from "./synthetic-documents.ts";

const RUN = join(import.meta.dirname, "../run.ts");
const CHILD = "--in-this-process";
const DEFAULT = 1_000_000;
const FORECAST = 10_000_000;
const MIB = 2 ** 20;

interface Point {
  documents: number;
  cpuSeconds: number;
  spilledMb: number;
}

/** `N`: documents of the largest run; a tenth and three tenths of them come before. */
export async function benchClusters([wanted = String(DEFAULT), more]: string[]): Promise<void> {
  if (wanted === CHILD) return clusterInThisProcess(Number(more));
  const most = Number(wanted);
  const percent = Object.entries(shares).map(([what, share]) => `${what} ${share * 100} %`);
  process.stdout.write(`documents made up: ${percent.join(", ")}, the others single; one process, embedded engine\n`);
  process.stdout.write("documents    wall s   CPU s  us/doc  peak MB  spilled MB    hashes  clusters   largest  unsettled\n");
  const points: Point[] = [];
  let last: ClusterCost | undefined;
  for (const documents of [most / 10, (3 * most) / 10, most].map(Math.round)) {
    const { code, seconds, cpuMs, peakMb, stdout } = await costOf(RUN, ["clusters", CHILD, String(documents)]);
    if (code !== 0) throw new Error(`clustering ${documents} documents ended with ${code}`);
    last = JSON.parse(stdout) as ClusterCost;
    const spilledMb = last.stages.reduce((sum, stage) => sum + stage.spilledBytes, 0) / MIB;
    points.push({ documents, cpuSeconds: cpuMs / 1000, spilledMb });
    const { hashes = 0, clusters = 0, unsettledLinks = 0 } = last.counts;
    const cells: [number, number, number][] = [
      [documents, 9, 0],
      [seconds, 10, 1],
      [cpuMs / 1000, 8, 1],
      [(cpuMs * 1000) / documents, 8, 1],
      [peakMb, 9, 0],
      [spilledMb, 12, 0],
      [hashes, 10, 0],
      [clusters, 10, 0],
      [last.largest, 10, 0],
      [unsettledLinks, 11, 0],
    ];
    process.stdout.write(`${cells.map(([value, width, digits]) => value.toFixed(digits).padStart(width)).join("")}\n`);
  }
  forecast(points);
  if (last !== undefined) dearest(last);
}

/** By what each further document costs between the last two: the start is left out. */
function forecast(points: readonly Point[]): void {
  const [before, last] = points.slice(-2) as [Point, Point];
  if (last.documents >= FORECAST) return;
  const further = (of: "cpuSeconds" | "spilledMb") =>
    last[of] + ((FORECAST - last.documents) * (last[of] - before[of])) / (last.documents - before.documents);
  process.stdout.write(
    `${FORECAST} documents, by the last two: ${further("cpuSeconds").toFixed(0)} s of CPU, ${further("spilledMb").toFixed(0)} MB spilled
`,
  );
}

const SHOWN = 6;

function dearest({ stages }: ClusterCost): void {
  const total = stages.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  process.stdout.write("the dearest stages of the last:\n");
  for (const { label, elementsIn, bytes, cpuMs } of stages.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, SHOWN))
    process.stdout.write(
      `  ${label.padEnd(14)} ${((100 * cpuMs) / total).toFixed(0).padStart(3)} % of CPU, ${elementsIn} elements, ${(bytes / MIB).toFixed(0)} MB\n`,
    );
}
