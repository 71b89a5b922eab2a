// Where a body lies: keyed by its content hash, so that equal bodies are stored once.
import { optional, struct, type TypeOf, text, uint } from "./codec.ts";

export const contentRef = struct({
  /** The file, relative to the pages/ folder or bucket: dt=…/segment-….warc.gz. */
  segment: text,
  /** Bytes of the gzip member of the response record. */
  offset: uint,
  length: uint,
  /** What a revisit record refers to. */
  url: text,
  storedAt: uint,
  /** WARC-Payload-Digest of the body, as its records carry it: a 304 vouches for it without bytes to take it of. */
  digest: optional(text),
});
export type ContentRef = TypeOf<typeof contentRef>;
