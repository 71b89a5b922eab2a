// How are a day's files read and written in Cloud Storage? An object each: read as it comes, and written when all of it is known.
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import type { DayFiles, FoundFile, WrittenFile } from "../../../ports/day-files.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { systemTrouble } from "../../stores/sqlite-faults.ts";
import { digestOf, isPacked, type LinesIn, linesOf, measureOf, writeLinesInto } from "../line-streams.ts";
import type { ObjectBucket } from "./bucket.ts";
import { faultOf } from "./faults.ts";
import { GZIP_TYPE, TEXT_TYPE } from "./named-object.ts";
import { bytesIn, withSpool } from "./spool.ts";

export interface GcsDayFilesOptions {
  /** Names of files are those of its objects. */
  bucket: ObjectBucket;
}

/** Any number of processes may write a name: the last one's file stands. What is written waits in the system's folder for temporary files. */
export function gcsDayFiles({ bucket }: GcsDayFilesOptions): DayFiles {
  return {
    list: (folder) => filesIn(bucket, folder),
    async *lines(name) {
      try {
        yield* linesOf(bucket.pieces(name), readAs(name));
      } catch (cause) {
        throw troubleOf(cause, bucket, name);
      }
    },
    writeLines: (name, lines) => write(bucket, name, lines),
    measure: (name) => unlessAbsent(bucket, name, (pieces) => measureOf(pieces, readAs(name))),
    digest: (name) => unlessAbsent(bucket, name, digestOf),
    remove: (name) => bucket.remove({ name }),
  };
}

/** An object is never written on; those that Pub/Sub writes have no end behind their last line. */
function readAs(name: string): LinesIn {
  return { packed: isPacked(name), whole: true };
}

async function filesIn(bucket: ObjectBucket, folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for await (const { name, bytes } of bucket.list(folder === "" ? "" : `${folder}/`))
    if (!name.endsWith("/")) found.push({ name, bytes }); // consoles show folders by empty objects of that name
  return found;
}

/** Lines can be asked for once only: an upload that fails is made again from the spool, which also tells the checksum beforehand. */
async function write(
  bucket: ObjectBucket,
  name: string,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<WrittenFile> {
  const packed = isPacked(name);
  try {
    return await withSpool(async (file) => {
      const md5 = createHash("md5");
      const written = await writeLinesInto({ file, packed, onBytes: (piece) => md5.update(piece) }, lines);
      await bucket.replace({
        name,
        contentType: packed ? GZIP_TYPE : TEXT_TYPE,
        bytes: written.bytes,
        md5: md5.digest("base64"),
        open: () => bytesIn(file),
      });
      return { name, ...written };
    });
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw (
      systemTrouble(cause, tmpdir()) ??
      new StoreError(`cannot write ${whereOf(bucket, name)}: its lines did not all come`, { cause })
    );
  }
}

async function unlessAbsent<T extends object>(
  bucket: ObjectBucket,
  name: string,
  tell: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<(T & { name: string }) | undefined> {
  try {
    return { name, ...(await tell(bucket.pieces(name))) };
  } catch (error) {
    if (error instanceof StoreError && faultOf(error.cause) === "absent") return undefined;
    throw troubleOf(error, bucket, name);
  }
}

/** What fails here, and not in the bucket, is the unpacking. */
function troubleOf(cause: unknown, bucket: ObjectBucket, name: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(`cannot read ${whereOf(bucket, name)}: it is no whole gzip file (${detail})`, { final: true, cause });
}

function whereOf(bucket: ObjectBucket, name: string): string {
  return `gs://${bucket.name}/${name}`;
}
