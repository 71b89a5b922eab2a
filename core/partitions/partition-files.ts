// Which files belong to a day that is being closed? Those of its folder that are whole, and late ones of earlier days, which no manifest names.
import { MANIFEST, type PartitionManifest } from "../../schemas/daily/manifest.ts";

export const families = ["documents", "pages"] as const;
export type Family = (typeof families)[number];

/** Days that are looked back: a file that a dead process left open is repaired by the next start of the crawl. */
export const LATE_DAYS = 7;

const DAY_MS = 86_400_000;
/** Beside a file that is being written (io/objects/part-names.ts). */
const OPEN = ".open";

const ofFamily: Record<Family, RegExp> = {
  documents: /^part-[\w-]+\.ndjson\.gz$/,
  pages: /^(?:segment|large)-[\w-]+\.(?:warc\.gz|cdxj)$/, // large: composed (io/objects/gcs/compact-segments.ts)
};

export function partitionFolder(family: Family, day: string): string {
  return `${family}/dt=${day}`;
}

/** The days before it, the nearest first. */
export function earlierDays(day: string): string[] {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Array.from({ length: LATE_DAYS }, (_, back) => new Date(at - (back + 1) * DAY_MS).toISOString().slice(0, 10));
}

export interface FolderOfDay {
  day: string;
  /** Paths of what stands there. */
  found: readonly string[];
  /** undefined: the day is not closed. */
  manifest: PartitionManifest | undefined;
}

/** Paths, in order. `earlier`: the days before, of which those that are not closed keep their files for their own closing. */
export function filesToClose(family: Family, today: FolderOfDay, earlier: readonly FolderOfDay[]): string[] {
  const named = new Set(earlier.flatMap(({ day, manifest }) => (manifest === undefined ? [] : namedBy(family, day, manifest))));
  const late = earlier
    .filter(({ manifest }) => manifest !== undefined)
    .flatMap(({ found }) => wholeFiles(family, found).filter((path) => !named.has(path)));
  return [...wholeFiles(family, today.found), ...late].sort();
}

/** The paths of a manifest's files, whose names are relative to its folder. */
export function namedBy(family: Family, day: string, { files }: PartitionManifest): string[] {
  return files.map(({ name }) => pathOf(family, day, name));
}

export function pathOf(family: Family, day: string, name: string): string {
  return name.startsWith("../") ? `${family}/${name.slice(3)}` : `${partitionFolder(family, day)}/${name}`;
}

/** Relative to the folder of the day. */
export function nameIn(family: Family, day: string, path: string): string {
  const folder = `${partitionFolder(family, day)}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : `../${path.slice(family.length + 1)}`;
}

export function manifestPath(family: Family, day: string): string {
  return `${partitionFolder(family, day)}/${MANIFEST}`;
}

/** Of those that stand in a folder: no index of an open segment either. */
export function wholeFiles(family: Family, found: readonly string[]): string[] {
  const open = new Set(found.filter((path) => path.endsWith(OPEN)).map((path) => stem(path.slice(0, -OPEN.length))));
  return found.filter((path) => ofFamily[family].test(path.slice(path.lastIndexOf("/") + 1)) && !open.has(stem(path)));
}

/** A segment and its index have one. */
function stem(path: string): string {
  return path.replace(/\.(?:warc\.gz|cdxj|ndjson\.gz)$/, "");
}
