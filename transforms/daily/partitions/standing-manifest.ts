// Is a day closed? Where its manifest stands, and then nothing of it is changed any more.
import { type Family, manifestPath, partitionFolder } from "../../../core/partitions/partition-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { MANIFEST, type PartitionManifest, partitionManifest } from "../../../schemas/daily/manifest.ts";

/** undefined: the day is not closed. Rejects where what stands there is no manifest. */
export async function standingManifest(files: DayFiles, family: Family, day: string): Promise<PartitionManifest | undefined> {
  const path = manifestPath(family, day);
  const found = await files.list(partitionFolder(family, day));
  if (!found.some(({ name }) => name === path)) return undefined;
  for await (const [line] of files.lines(path)) {
    const manifest: unknown = JSON.parse(line ?? "null");
    const fault = partitionManifest.fault(manifest, MANIFEST);
    if (fault !== undefined) throw new Error(`${path} is no manifest: ${fault}`);
    return manifest as PartitionManifest;
  }
  throw new Error(`${path} is empty`);
}
