// How does an index builder read a partition? By its manifest alone: which files, whole or not, and what stands in them, one after another.
import {
  type Family,
  manifestPath,
  namedBy,
  partitionFolder,
  pathOf,
  wholeFiles,
} from "../../core/partitions/partition-files.ts";
import { type openOutput, StoreError } from "../../pipelines/wiring.ts";
import { MANIFEST, type PartitionManifest, partitionManifest } from "../../schemas/daily/manifest.ts";

type Output = ReturnType<typeof openOutput>;

export interface ClosedDay {
  family: Family;
  day: string;
  manifest: PartitionManifest;
}

const FOLDER = /^\w+\/dt=(\d{4}-\d\d-\d\d)\//;

/** The days of a family that are complete, in order. Rejects with StoreError where a manifest is none. */
export async function closedDays(output: Output, family: Family): Promise<ClosedDay[]> {
  const found = (await output.list(family)).map(({ name }) => name);
  const days = found.flatMap((name) => (name.endsWith(`/${MANIFEST}`) ? [FOLDER.exec(name)?.[1] ?? ""] : [])).sort();
  return Promise.all(days.map(async (day) => ({ family, day, manifest: await readManifest(output, family, day) })));
}

async function readManifest(output: Output, family: Family, day: string): Promise<PartitionManifest> {
  const path = manifestPath(family, day);
  for await (const [line] of output.lines(path)) {
    const manifest = parsed(line ?? "");
    const fault = partitionManifest.fault(manifest, MANIFEST);
    if (fault === undefined) return manifest as PartitionManifest;
    throw new StoreError(`${path} is no manifest: ${fault}`);
  }
  throw new StoreError(`${path} is empty`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What is not as the manifest says, a line a file; nothing where all is. Late files, which a later day's manifest may name, are no fault. */
export async function faultsOf(output: Output, { family, day, manifest }: ClosedDay): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, bytes, sha256, rows } of manifest.files) {
    const path = pathOf(family, day, name);
    const found = await (path.endsWith(".warc.gz") ? output.digest(path) : output.measure(path));
    if (found === undefined) faults.push(`${path} is missing`);
    else if (found.bytes !== bytes || found.sha256 !== sha256)
      faults.push(`${path} has ${found.bytes} bytes with the digest ${found.sha256}, not ${bytes} with ${sha256}`);
    else if ("rows" in found && found.rows !== rows) faults.push(`${path} has ${found.rows} lines, not ${rows}`);
  }
  return faults;
}

/** Whole files of the day's folder that its manifest does not name. */
export async function lateFiles(output: Output, { family, day, manifest }: ClosedDay): Promise<string[]> {
  const found = (await output.list(partitionFolder(family, day))).map(({ name }) => name);
  const named = new Set(namedBy(family, day, manifest));
  return wholeFiles(family, found).filter((path) => !named.has(path));
}

/** The documents of a day as they stand, a line of JSON each. */
export async function* documentLines(output: Output, { day, manifest }: ClosedDay): AsyncGenerator<string> {
  for (const { name } of manifest.files) for await (const lines of output.lines(pathOf("documents", day, name))) yield* lines;
}

/** The captures of a day by their index: a line of JSON each, that says where its record lies. */
export async function* captureLines(output: Output, { day, manifest }: ClosedDay): AsyncGenerator<string> {
  for (const { name } of manifest.files) {
    if (!name.endsWith(".cdxj")) continue;
    const segment = pathOf("pages", day, name.replace(/\.cdxj$/, ".warc.gz"));
    for await (const lines of output.lines(pathOf("pages", day, name)))
      for (const line of lines) {
        const [, timestamp = "", json = "{}"] = /^\S+ (\d{14}) (\{.*\})$/.exec(line) ?? [];
        const { url, mime, status, digest, offset, length } = JSON.parse(json) as Record<string, string>;
        yield JSON.stringify({
          ...{ url, timestamp, status: Number(status), mime, digest },
          ...{ segment, offset: Number(offset), length: Number(length) },
        });
      }
  }
}
