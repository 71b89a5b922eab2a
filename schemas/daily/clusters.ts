// What is known of near-duplicates: a document as clustering needs it, and the rows that tell each document its cluster.
import { type Codec, CodecError, oneOf, struct, type TypeOf, text, uint } from "../codec.ts";
import type { DayTable } from "./day-table.ts";

/** Under its SimHash (16 hex digits). A document that has no words has none: `0000000000000000`. */
export const clusterDocument = struct({
  urlId: text,
  paceKey: text,
  /** 0 to 100. */
  quality: uint,
  /** Unix ms when the URL was first seen. */
  discoveredAt: uint,
});
export type ClusterDocument = TypeOf<typeof clusterDocument>;

const HALF_DIGITS = 8;

/** A SimHash of 16 lower-case hex digits, in two numbers of at most five bytes. */
export const hashText: Codec<string> = {
  ...text,
  write(writer, hash) {
    const [high, low] = [hash.slice(0, HALF_DIGITS), hash.slice(HALF_DIGITS)].map((half) => Number.parseInt(half, 16));
    if (!isHash(hash)) throw new CodecError(`'${hash}' is no SimHash`);
    writer.uint(high!);
    writer.uint(low!);
  },
  read: (reader) => halfText(reader.uint()) + halfText(reader.uint()),
  fault: (value, path) => (typeof value === "string" && isHash(value) ? undefined : `${path}: no SimHash`),
};

function halfText(half: number): string {
  return half.toString(16).padStart(HALF_DIGITS, "0");
}

export function isHash(value: string): boolean {
  return /^[0-9a-f]{16}$/.test(value);
}

/** The document that stands for others, and its hash. */
export const elected = struct({ hash: hashText, document: clusterDocument });
export type Elected = TypeOf<typeof elected>;

export const clusterRoles = ["representative", "copy", "near", "single"] as const;
export type ClusterRole = (typeof clusterRoles)[number];

const rowFields = {
  /** The representative's SimHash: no two clusters share it. */
  clusterId: text,
  urlId: text,
  paceKey: text,
  simHash: text,
  role: oneOf(clusterRoles),
  /** The URL id of the document that stands for the cluster. */
  representative: text,
  /** Documents of the cluster. */
  size: uint,
  /** Documents with this very SimHash, this one among them. */
  exactCopies: uint,
  /** Bits in which the SimHash differs from the representative's. */
  distance: uint,
};

/** One document of a cluster; singles have no row. */
export const clusterRow = struct(rowFields);
export type ClusterRow = TypeOf<typeof clusterRow>;

/** As others read it: what the role means for them stands beside it. */
const clusterTableRow = struct({ ...rowFields, indexPriority: uint, storageClass: text });
export type ClusterTableRow = TypeOf<typeof clusterTableRow>;

export const clusterTable: DayTable<ClusterTableRow> = {
  name: "clusters",
  version: 1,
  row: clusterTableRow,
  words: {
    clusterId: "SimHash of the representative, hex; no two clusters share it",
    urlId: "First 128 bits of the SHA-256 of the canonical URL, base64url",
    paceKey: "Host name, with the port where it is not the scheme's default",
    simHash: "SimHash of the document, hex",
    role: "representative, copy (the representative's SimHash) or near (another one)",
    representative: "urlId of the document that stands for the cluster",
    size: "Documents of the cluster",
    exactCopies: "Documents with this very SimHash, this one among them",
    distance: "Bits in which the SimHash differs from the representative's, 0 to 6",
    indexPriority: "0 to 100: whether an index takes it, higher first",
    storageClass: "Cloud Storage's class for its body from the capture on; docs/clusters.md tells when it becomes colder",
  },
};
