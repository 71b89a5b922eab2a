// A gzip file that is the content itself, as sitemaps are published: unpacked on the thread pool, never beyond its limit.
import { promisify } from "node:util";
import { gunzip as gunzipCallback } from "node:zlib";
import type { Gunzip } from "../ports/gunzip.ts";

const unpack = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzipCallback);

export const gunzip: Gunzip = async (bytes, bytesMax) => {
  try {
    return await unpack(bytes, { maxOutputLength: bytesMax });
  } catch {
    return undefined; // not gzip, damaged, or too large: the caller's reason is the same
  }
};
