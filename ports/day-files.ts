// Where do the files of a day stand: the events and documents that a crawl wrote, and the tables that the daily pipeline makes of them?

/** A file that stands, whole. `name` is relative to the crawl's place: daily/dt=2026-11-30/schedule/part-3f.ndjson.gz. */
export interface FoundFile {
  name: string;
  bytes: number;
}

export interface WrittenFile extends FoundFile {
  /** Lines. */
  rows: number;
  /** Of the bytes as they stand, 64 hex digits. */
  sha256: string;
}

/** Names that end in .gz are of gzip files, whose lines are those of the text inside. All reject with StoreError. */
export interface DayFiles {
  /** What stands in the folder and those below it, by name; nothing where there is none. */
  list(folder: string): Promise<FoundFile[]>;
  /**
   * The lines of a file in their order, some at a time. A last line without its end is none where files grow, as it may be half written; where a
   * file stands whole or not at all it is one. Rejects where no such file stands.
   */
  lines(name: string): AsyncIterable<string[]>;
  /** Lines without their ends. The file stands whole, in place of what stood there, and durable when it resolves; before that it is not seen. */
  writeLines(name: string, lines: Iterable<string> | AsyncIterable<string>): Promise<WrittenFile>;
  /** What stands; undefined where there is nothing. */
  measure(name: string): Promise<WrittenFile | undefined>;
  /** The same but for its rows, of a file that is no text. */
  digest(name: string): Promise<Omit<WrittenFile, "rows"> | undefined>;
  /** Also where there is nothing. */
  remove(name: string): Promise<void>;
}
