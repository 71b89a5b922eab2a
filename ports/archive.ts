// Where captures and documents are kept: append-only files of independent gzip members, durable by group commit.

/** One WARC record before compression, and what its line in the index says. */
export interface ArchiveRecord {
  bytes: Uint8Array[];
  index?: CdxjFields;
}

/** The JSON part of a cdxj line, offset, length and file aside. */
export interface CdxjFields {
  url: string;
  /** Unix ms of the capture. */
  at: number;
  status: number;
  mime: string;
  /** `sha1:` and base32. */
  digest: string;
}

export interface StoredAt {
  /** Relative to the family's folder: dt=…/segment-….warc.gz. */
  segment: string;
  offset: number;
  length: number;
}

export interface Archive {
  /** Appends the records next to each other in the open segment; resolves when they are durable. One place a record. Rejects with StoreError. */
  append(records: readonly ArchiveRecord[]): Promise<StoredAt[]>;
  /** The record's bytes, decompressed. */
  read(at: StoredAt): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Lines of JSON for others to read: events and documents. */
export interface Lines {
  /** Resolves when all lines are durable. Rejects with StoreError. */
  append(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
