// How does an object come to be exactly once, though answers get lost? Create-only, and what stands is compared by its checksum.
import { createHash } from "node:crypto";
import type { Bucket, File } from "@google-cloud/storage";
import { StoreError } from "../../../ports/versioned-table.ts";
import type { ObjectFacts } from "./bucket.ts";
import { type Asked, faultOf, heals, storeErrorOf } from "./faults.ts";
import { inTime, type Patience, patiently } from "./patience.ts";

export interface NewObject {
  name: string;
  bytes: Uint8Array;
  contentType: string;
}

export interface Uploading extends Patience {
  bucket: Bucket;
  /** The same bucket by a client that goes on where a broken upload ended. */
  resuming: Bucket;
  /** What stands under the name; undefined also where that cannot be told. Asks once, and never rejects. */
  lookOnce: (name: string) => Promise<ObjectFacts | undefined>;
}

/**
 * Above it an upload is made of chunks of this size, and a broken one goes on at the last: 8 MiB is the least that Google's guide
 * advises, and 8 s of the slowest link we stand. Below it costs one request less.
 */
const RESUMABLE_BYTES = 8 * 1024 * 1024;

/**
 * Made again under the same name with the same bytes, which is safe: only one upload can create it. The service computes the MD5 and
 * refuses bytes that were damaged on their way (CRC32C would do too, but the client computes it at 60 MB/s, OpenSSL the other at 460).
 */
export async function createObject(uploading: Uploading, object: NewObject): Promise<"created" | "taken"> {
  const md5 = createHash("md5").update(object.bytes).digest("base64");
  const asked: Asked = { verb: "create", bucket: uploading.bucket.name, object: object.name };
  try {
    return await patiently(uploading, async () => {
      try {
        await send(uploading, object, md5);
        return "created";
      } catch (error) {
        const kind = faultOf(error);
        if (kind !== "exists" && !heals(error)) throw error;
        const found = await uploading.lookOnce(object.name);
        if (found !== undefined) return found.md5 === md5 && found.bytes === object.bytes.length ? "created" : "taken";
        // who holds the name is not known yet, or it is free again
        throw kind === "exists" ? storeErrorOf(error, asked, "busy") : error;
      }
    });
  } catch (error) {
    const kind = faultOf(error);
    throw storeErrorOf(error, asked, kind === "absent" ? "bucket" : kind);
  }
}

async function send({ bucket, resuming, clock }: Uploading, object: NewObject, md5: string): Promise<void> {
  const { name, bytes, contentType } = object;
  const resumable = bytes.length > RESUMABLE_BYTES;
  const file: File = (resumable ? resuming : bucket).file(name);
  const stream = file.createWriteStream({
    resumable,
    validation: false,
    metadata: { contentType, md5Hash: md5, ...(resumable && { contentLength: bytes.length }) },
    preconditionOpts: { ifGenerationMatch: 0 },
    ...(resumable && { chunkSize: RESUMABLE_BYTES }),
  });
  let begun = false;
  stream.on("uri", () => {
    begun = true;
  });
  const sent = new Promise<void>((resolve, reject) => {
    stream.on("error", (error) => reject(begun && faultOf(error) === "absent" ? sessionGone(error) : error));
    stream.on("finish", resolve).end(bytes);
  });
  await inTime(clock, bytes.length, sent, () => stream.destroy());
}

/** A session that was given up by the service, or that had ended well unheard: the upload is looked for, and else begun anew. */
function sessionGone(cause: unknown): StoreError {
  return new StoreError("the session of an upload is gone", { cause });
}
