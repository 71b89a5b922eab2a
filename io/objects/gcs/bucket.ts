// What do segments, documents and their compaction ask of a bucket of Cloud Storage? Eight calls, bounded in time, failing with StoreError.
import type { Bucket } from "@google-cloud/storage";
import { asking, unlessAbsent } from "./asking.ts";
import { type Asked, faultOf, storeErrorOf } from "./faults.ts";
import { inTime, type Patience, patiently } from "./patience.ts";
import { piecesOf, readObject } from "./read-object.ts";
import { storageOf } from "./storage-client.ts";
import { createObject, type NewObject, type Replacement, replaceObject } from "./upload.ts";

export interface ObjectFacts {
  name: string;
  /** Names these very bytes: an object is never changed, only replaced or deleted. */
  generation: string;
  bytes: number;
  /** Base64; absent where the object was composed. */
  md5?: string;
  /** Unix ms, by the service's clock. */
  createdAt: number;
}

/** All reject with StoreError. A call that did not answer in time may have been carried out; each may be made again. */
export interface ObjectBucket {
  readonly name: string;
  /** Creates, never replaces. `taken`: another object has the name. Durable when it resolves. */
  create(object: NewObject): Promise<"created" | "taken">;
  /** Whole and durable when it resolves, in place of what stood there; what is the same already is left. */
  replace(object: Replacement): Promise<void>;
  /** Undefined where there is no such object; so with read. */
  describe(name: string): Promise<ObjectFacts | undefined>;
  /** A range is cut off where the object ends. Whole objects are checked against their checksum, ranges cannot be. */
  read(name: string, range?: { from: number; length: number }): Promise<Uint8Array | undefined>;
  /** The whole object, some KiB at a time, checked against its checksum at the end. Rejects where there is none, or another by now. */
  pieces(name: string): AsyncGenerator<Uint8Array>;
  /** In order of their names. */
  list(prefix: string): AsyncGenerator<ObjectFacts>;
  /** The parts, COMPOSE_PARTS_MAX at most, one after the other as a new object. One of the same length under that name is taken for it. */
  compose(target: { name: string; contentType: string }, parts: readonly ObjectFacts[]): Promise<ObjectFacts>;
  /** Deletes this generation, or whatever stands where none is given; also where there is nothing. */
  remove(object: { name: string; generation?: string }): Promise<void>;
}

export interface BucketOptions extends Patience {
  bucket: string;
  project?: string;
  /** http://host:port of an emulator; it is asked without credentials. */
  endpoint?: string;
  /** Names in one answer of a listing; 1,000, the most that the service gives, by default. */
  pageNames?: number;
}

/** https://cloud.google.com/storage/docs/composite-objects */
export const COMPOSE_PARTS_MAX = 32;

/** Asks for one name, so that a missing bucket or right shows at once. Rejects with StoreError. */
export async function openBucket(options: BucketOptions): Promise<ObjectBucket> {
  const bucket = storageOf(options).bucket(options.bucket);
  await asking(options, { verb: "open", bucket: options.bucket }, () =>
    bucket.getFiles({ maxResults: 1, autoPaginate: false, fields: LISTED }),
  );
  return calls(bucket, options);
}

export interface SetUpStorage extends BucketOptions {
  project: string;
  /** A region or multi-region, such as EU; that of the workers, or each byte is paid for on its way. */
  location: string;
}

/** Creates the bucket where there is none; lifecycle, soft delete and rights are Terraform's. Rejects with StoreError. */
export async function setUpStorage(options: SetUpStorage): Promise<"created" | "present"> {
  const settings = {
    location: options.location,
    iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: "enforced" },
  };
  const asked: Asked = { verb: "create", bucket: options.bucket };
  try {
    await patiently(options, () => inTime(options.clock, 0, storageOf(options).createBucket(options.bucket, settings)));
    return "created";
  } catch (error) {
    const kind = faultOf(error);
    if ((error as { code?: unknown } | null)?.code !== 409)
      throw storeErrorOf(error, asked, kind === "absent" ? "project" : kind);
    // names are one space for all the world: whether it is ours shows when it is opened
    await openBucket(options);
    return "present";
  }
}

const PAGE_NAMES = 1000;
const FACTS = "name,generation,size,md5Hash,timeCreated";
const LISTED = `items(${FACTS}),nextPageToken`;

function calls(bucket: Bucket, options: BucketOptions): ObjectBucket {
  const ask = (verb: string, object?: string): Asked => ({
    verb,
    bucket: bucket.name,
    ...(object !== undefined && { object }),
  });
  const lookUp = async (name: string) => factsOf((await bucket.file(name).getMetadata())[0]);
  const lookOnce = (name: string) => inTime(options.clock, 0, lookUp(name)).catch(() => undefined);
  const resuming = storageOf(options, true).bucket(bucket.name);
  return {
    name: bucket.name,
    describe: (name) => unlessAbsent(options, ask("look up", name), () => lookUp(name)),
    create: (object) => createObject({ ...options, bucket, resuming, lookOnce }, object),
    replace: (object) => replaceObject({ ...options, bucket, resuming, lookUp }, object),
    read: (name, range) => readObject({ ...options, bucket }, name, range),
    pieces: (name) => piecesOf({ ...options, bucket }, name),
    async *list(prefix) {
      for (
        let query: object | null = { prefix, maxResults: options.pageNames ?? PAGE_NAMES, autoPaginate: false, fields: LISTED };
        query !== null;
      ) {
        const [, next, answer] = await asking(options, ask("list"), () => bucket.getFiles(query!));
        // with `fields` the client makes no File of an object, whatever its types say
        for (const item of (answer as { items?: object[] }).items ?? []) yield factsOf(item);
        query = next as object | null;
      }
    },
    compose: (target, parts) => composeObjects({ bucket, options, lookOnce }, target, parts),
    async remove({ name, generation }) {
      const file = bucket.file(name, generation === undefined ? {} : { generation });
      await unlessAbsent(options, ask("delete", name), () => file.delete());
    },
  };
}

interface Composing {
  bucket: Bucket;
  options: BucketOptions;
  lookOnce: (name: string) => Promise<ObjectFacts | undefined>;
}

/** Made again, it finds what a lost answer had told of: what stands under the name is taken where it is as long as the parts. */
async function composeObjects(
  { bucket, options, lookOnce }: Composing,
  { name, contentType }: { name: string; contentType: string },
  parts: readonly ObjectFacts[],
): Promise<ObjectFacts> {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const target = bucket.file(name);
  target.metadata = { contentType };
  const sources = parts.map((part) => bucket.file(part.name, { generation: part.generation }));
  return asking(options, { verb: "compose", bucket: bucket.name, object: name }, async () => {
    try {
      const [, answer] = await bucket.combine(sources, target, { ifGenerationMatch: 0 });
      return factsOf(answer as object);
    } catch (error) {
      const standing = await lookOnce(name);
      if (standing?.bytes !== bytes) throw error;
      return standing;
    }
  });
}

function factsOf(metadata: object): ObjectFacts {
  const { name, generation, size, md5Hash, timeCreated } = metadata as Record<string, string | undefined>;
  return {
    name: name ?? "",
    generation: String(generation),
    bytes: Number(size),
    createdAt: Date.parse(timeCreated ?? ""),
    ...(md5Hash !== undefined && { md5: md5Hash }),
  };
}
