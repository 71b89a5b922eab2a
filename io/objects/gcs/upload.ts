// How does an object come to be exactly once, though answers get lost? Over what was seen there only, and what stands is compared by its checksum.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Bucket } from "@google-cloud/storage";
import { StoreError } from "../../../ports/versioned-table.ts";
import type { ObjectFacts } from "./bucket.ts";
import { type Asked, faultOf, heals, storeErrorOf } from "./faults.ts";
import { inTime, type Patience, patiently } from "./patience.ts";

export interface NewObject {
  name: string;
  bytes: Uint8Array;
  contentType: string;
}

/** An object whose bytes need not fit in memory. */
export interface Replacement {
  name: string;
  contentType: string;
  bytes: number;
  /** Base64. */
  md5: string;
  /** The bytes from the first on; asked for again with each try. */
  open: () => Readable;
}

interface Sending extends Patience {
  bucket: Bucket;
  /** The same bucket by a client that goes on where a broken upload ended. */
  resuming: Bucket;
}

export interface Uploading extends Sending {
  /** What stands under the name; undefined also where that cannot be told. Asks once, and never rejects. */
  lookOnce: (name: string) => Promise<ObjectFacts | undefined>;
}

export interface Replacing extends Sending {
  /** What stands under the name. Asks once; rejects where nothing does. */
  lookUp: (name: string) => Promise<ObjectFacts>;
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
        await send(uploading, sendingOf(object, md5), NOTHING);
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

const NOTHING = "0"; // the generation of a name that is free

/**
 * Takes the place of the generation that it saw, and no other's: a try that was given up, and arrives late, can replace nothing. What
 * an answer that was lost had told of is found by the next try.
 */
export async function replaceObject(replacing: Replacing, object: Replacement): Promise<void> {
  const { clock, lookUp } = replacing;
  const asked: Asked = { verb: "write", bucket: replacing.bucket.name, object: object.name };
  const attempt = async () => {
    const standing = await inTime(clock, 0, lookUp(object.name).catch(unlessAbsent));
    if (standing?.md5 === object.md5 && standing.bytes === object.bytes) return;
    try {
      await send(replacing, object, standing?.generation ?? NOTHING);
    } catch (error) {
      throw faultOf(error) === "exists" ? storeErrorOf(error, asked, "busy") : error;
    }
  };
  try {
    await patiently(replacing, attempt, object.bytes);
  } catch (error) {
    const kind = faultOf(error);
    throw storeErrorOf(error, asked, kind === "absent" ? "bucket" : kind);
  }
}

function unlessAbsent(error: unknown): undefined {
  if (faultOf(error) !== "absent") throw error;
}

/** `replaced`: the generation that must stand. */
async function send({ bucket, resuming, clock }: Sending, object: Replacement, replaced: string): Promise<void> {
  const { name, bytes, contentType, md5 } = object;
  const resumable = bytes > RESUMABLE_BYTES;
  const stream = (resumable ? resuming : bucket).file(name).createWriteStream({
    resumable,
    validation: false,
    metadata: { contentType, md5Hash: md5, ...(resumable && { contentLength: bytes }) },
    preconditionOpts: { ifGenerationMatch: replaced },
    ...(resumable && { chunkSize: RESUMABLE_BYTES }),
  });
  let begun = false;
  stream.on("uri", () => {
    begun = true;
  });
  const sent = pipeline(object.open(), stream).catch((error) => {
    throw begun && faultOf(error) === "absent" ? sessionGone(error) : error;
  });
  await inTime(clock, bytes, sent, () => stream.destroy());
}

function sendingOf({ bytes, ...object }: NewObject, md5: string): Replacement {
  return { ...object, bytes: bytes.length, md5, open: () => Readable.from([bytes], { objectMode: false }) };
}

/** A session that was given up by the service, or that had ended well unheard: the upload is looked for, and else begun anew. */
function sessionGone(cause: unknown): StoreError {
  return new StoreError("the session of an upload is gone", { cause });
}
