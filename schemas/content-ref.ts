// Where a body lies: keyed by its content hash, so that equal bodies are stored once.
import { struct, type TypeOf, text, uint } from "./codec.ts";

export const contentRef = struct({
  /** The file, relative to the pages/ folder or bucket: dt=…/segment-….warc.gz. */
  segment: text,
  /** Bytes of the gzip member of the response record. */
  offset: uint,
  length: uint,
  /** What a revisit record refers to. */
  url: text,
  storedAt: uint,
});
export type ContentRef = TypeOf<typeof contentRef>;
