// Under which name does an object stand that holds a commit? One that nobody has: a name that is taken is left, and another drawn.
import { StoreError } from "../../../ports/versioned-table.ts";
import type { ObjectBucket } from "./bucket.ts";

export interface NamedObject {
  bucket: ObjectBucket;
  /** Before the names; without a slash at its end. */
  folder: string;
  /** Never the same twice. */
  nextName: () => string;
  contentType: string;
  /** The object's bytes, which may tell its name. */
  bytesFor: (name: string) => Promise<Uint8Array>;
}

/** Without a Content-Encoding, with which the service would hand the bytes out decompressed. */
export const GZIP_TYPE = "application/gzip";
export const TEXT_TYPE = "text/plain; charset=utf-8";

const NAMES_MAX = 3; // 48 random bits a name: more than one that is taken is a fault, not chance

/** Resolves with its name, relative to the folder, when it is durable. Rejects with StoreError. */
export async function createNamed({ bucket, folder, nextName, contentType, bytesFor }: NamedObject): Promise<string> {
  for (let drawn = 0; drawn < NAMES_MAX; drawn++) {
    const name = nextName();
    const object = { name: `${folder}/${name}`, bytes: await bytesFor(name), contentType };
    if ((await bucket.create(object)) === "created") return name;
  }
  throw new StoreError(
    `${NAMES_MAX} new names in gs://${bucket.name}/${folder} were all taken: does another program write there?`,
  );
}
