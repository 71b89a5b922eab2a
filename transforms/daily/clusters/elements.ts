// What travels between the steps of clustering? Each codec here is of one collection's values; keys are SimHashes where nothing else is said.
import { keyed } from "../../../beam/coders.ts";
import { bytes, optional, struct, type TypeOf, text, uint, union } from "../../../schemas/codec.ts";
import { clusterDocument, elected, hashText } from "../../../schemas/daily/clusters.ts";

/** All documents of one SimHash: how many, and which of them represents them. */
const sameHash = { copies: uint, document: clusterDocument } as const;

/** Under the key of a band, or a narrower one: some of its hashes, packed (core/clusters/near-groups.ts). */
export const banded = struct({ hashes: bytes });
export type Banded = TypeOf<typeof banded>;

/** What is known of one hash: its documents, or another hash that it is linked to. */
export const known = union({ documents: struct(sameHash), link: struct({ hash: hashText }) });
export type Known = TypeOf<typeof known>;

/** Under the smallest hash of what hangs together. The fact: who represents; the rows: the hashes. */
export const candidate = union({
  fact: struct({ elected: optional(elected) }),
  row: struct({ hash: hashText, ...sameHash }),
});
export type Candidate = TypeOf<typeof candidate>;

/** Under a cluster's id. The fact: its size in documents; the rows: its hashes. */
export const member = union({
  fact: struct({ size: uint }),
  row: struct({ hash: hashText, ...sameHash, representative: text, distance: uint }),
});
export type Member = TypeOf<typeof member>;

/** The fact: what the documents of this hash are; the rows: those of them that do not represent it. */
export const told = union({
  fact: struct({ clusterId: hashText, representative: text, size: uint, exactCopies: uint, distance: uint }),
  row: clusterDocument,
});
export type Told = TypeOf<typeof told>;

/** Under what was counted: `countNames`. */
export const counts = keyed(uint);

/** Closed: what the report of clustering tells. */
export const countNames = [
  "documents",
  /** Left out: without words there is nothing to compare. */
  "withoutText",
  /** Distinct SimHashes. */
  "hashes",
  /** Keys under which more hashes stood than are compared at once. */
  "crowdedKeys",
  /** Links between two hashes that the rounds did not bring to one end: what hangs together may be in two parts. */
  "unsettledLinks",
  /** Hashes beyond the reach of their representative that were too many to be looked at together. */
  "partedHashes",
  "clusters",
  "representatives",
  "copies",
  "nearDuplicates",
] as const;
export type CountName = (typeof countNames)[number];
