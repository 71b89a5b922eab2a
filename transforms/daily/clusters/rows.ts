// What is each document told of its cluster? Its row: first the document that represents its hash, then those that say the very same.
import { keyed } from "../../../beam/coders.ts";
import type { CombineDefinition, Keyed } from "../../../beam/dofn.ts";
import { roleOf } from "../../../core/clusters/membership.ts";
import { type ClusterDocument, type ClusterRole, type ClusterRow, clusterRow } from "../../../schemas/daily/clusters.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { type CountName, counts, type Member, member, type Told, told } from "./elements.ts";
import { lookup } from "./lookup.ts";
import { newTally } from "./tally.ts";

/** How many documents a cluster has. */
export const clusterSize: CombineDefinition<Member, Member> = {
  form: "combine",
  name: "ClusterSize",
  input: member,
  accumulator: member,
  create: () => ({ kind: "fact", size: 0 }),
  add: (into, value) => ({ kind: "fact", size: sizeOf(into) + sizeOf(value) }),
  merge: (into, other) => ({ kind: "fact", size: sizeOf(into) + sizeOf(other) }),
};

function sizeOf(one: Member): number {
  return one.kind === "fact" ? one.size : one.copies;
}

type Fact = Omit<Extract<Told, { kind: "fact" }>, "kind">;

const countedAs: Record<ClusterRole, CountName | undefined> = {
  representative: "representatives",
  copy: "copies",
  near: "nearDuplicates",
  single: undefined,
};

const ofHashes = { rows: keyed(clusterRow), told: keyed(told), counts };

/** The rows of the documents that represent their hash; and what its other documents, if it has any, are to be told. */
export const hashRows = lookup({
  name: "HashRows",
  input: member,
  outputs: ofHashes,
  make() {
    const tally = newTally();
    return {
      ...tally.lifecycle,
      found(clusterId, { size }: { size: number }, { hash, copies, document, representative, distance }, context) {
        const fact: Fact = { clusterId, representative, size, exactCopies: copies, distance };
        const row = rowOf(hash, fact, document);
        const name = countedAs[row.value.role];
        if (name === undefined) return;
        tally.count(name);
        if (row.value.role === "representative") tally.count("clusters");
        context.emit("rows", row);
        if (copies > 1) context.emit("told", { key: hash, value: { kind: "fact", ...fact } });
      },
    };
  },
});

const ofCopies = { rows: keyed(clusterRow), counts };

/** The rows of all other documents of a hash. */
export const copyRows = lookup({
  name: "CopyRows",
  input: told,
  outputs: ofCopies,
  make() {
    const tally = newTally();
    return {
      ...tally.lifecycle,
      found(hash, fact: Fact, document: ClusterDocument, context) {
        const row = rowOf(hash, fact, document);
        const name = countedAs[row.value.role];
        if (name !== undefined) tally.count(name);
        context.emit("rows", row);
      },
    };
  },
});

/** Under the row key of the document's URL record. */
function rowOf(simHash: string, fact: Fact, { urlId, paceKey }: ClusterDocument): Keyed<ClusterRow> {
  const { clusterId, representative, size, exactCopies, distance } = fact;
  const role = roleOf({ isRepresentative: urlId === representative, distance, size });
  const value = { clusterId, urlId, paceKey, simHash, role, representative, size, exactCopies, distance };
  return { key: rowKey(paceKey, urlId), value };
}
