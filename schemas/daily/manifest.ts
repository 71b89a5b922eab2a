// When is a partition complete? When its manifest stands: the files, their rows, bytes and digests, and which version of which rows they hold.
import { list, struct, type TypeOf, text, uint } from "../codec.ts";

export const MANIFEST = "manifest.json";

/** A file of the partition; `name` is relative to the manifest's folder. */
export const partitionFile = struct({ name: text, rows: uint, bytes: uint, sha256: text });
export type PartitionFile = TypeOf<typeof partitionFile>;

/** Files stand in the order of their names. Nothing that a manifest names changes. */
export const partitionManifest = struct({
  table: text,
  /** UTC, YYYY-MM-DD. */
  day: text,
  /** Rises when rows gain a field or change their meaning. */
  schemaVersion: uint,
  rows: uint,
  bytes: uint,
  files: list(partitionFile),
});
export type PartitionManifest = TypeOf<typeof partitionManifest>;
