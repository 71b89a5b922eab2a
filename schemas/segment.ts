// Where does a WARC segment lie after compaction? A row for each that was composed into a larger object; no row: where it was written.
import { struct, type TypeOf, text, uint } from "./codec.ts";

/** Row key: the segment's name, as ContentRef has it. Written once, before the segment's own object is deleted, and never changed. */
export const segmentPlace = struct({
  /** Relative to the folder of the segments, as their names are. */
  object: text,
  /** Where the segment's first byte lies in it. */
  base: uint,
});
export type SegmentPlace = TypeOf<typeof segmentPlace>;
