// Is a day closed? Where its manifest stands, and then nothing of it is changed any more.
import { type Family, manifestPath } from "../../../core/partitions/partition-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { MANIFEST, type PartitionManifest, partitionManifest } from "../../../schemas/daily/manifest.ts";
import { jsonFile } from "../json-file.ts";

/** undefined: the day is not closed. Rejects where what stands there is no manifest. */
export async function standingManifest(files: DayFiles, family: Family, day: string): Promise<PartitionManifest | undefined> {
  const path = manifestPath(family, day);
  const manifest = await jsonFile(files, path);
  if (manifest === undefined) return undefined;
  const fault = partitionManifest.fault(manifest, MANIFEST);
  if (fault !== undefined) throw new Error(`${path} is no manifest: ${fault}`);
  return manifest as PartitionManifest;
}
