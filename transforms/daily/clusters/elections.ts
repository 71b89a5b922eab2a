// Who represents what hangs together, and whom does it reach? An election by combining; those beyond its reach are led in the order of rank.
import { keyed } from "../../../beam/coders.ts";
import type { CombineDefinition, Emitter, GroupedDefinition } from "../../../beam/dofn.ts";
import { halvesOf } from "../../../core/clusters/bands.ts";
import { CROWD_LEVELS, leadersOf, partOfCrowd } from "../../../core/clusters/leaders.ts";
import { reachedFrom } from "../../../core/clusters/membership.ts";
import { addHash, newHashList } from "../../../core/clusters/near-groups.ts";
import { elect, represents } from "../../../core/clusters/representative.ts";
import { type Candidate, candidate, counts, member } from "./elements.ts";
import { lookup } from "./lookup.ts";
import { newTally } from "./tally.ts";

type Elected = Extract<Candidate, { kind: "fact" }>["elected"];

/** The best of all candidates of a key. */
export const election: CombineDefinition<Candidate, Candidate> = {
  form: "combine",
  name: "Election",
  input: candidate,
  accumulator: candidate,
  create: () => outcome(undefined),
  add: (into, value) => outcome(elect(electedIn(into), electedIn(value))),
  merge: (into, other) => outcome(elect(electedIn(into), electedIn(other))),
};

function outcome(elected: Elected): Candidate {
  return elected === undefined ? { kind: "fact" } : { kind: "fact", elected };
}

function electedIn(one: Candidate): Elected {
  return one.kind === "fact" ? one.elected : { hash: one.hash, document: one.document };
}

const outputs = { members: keyed(member), beyond: keyed(candidate) };

/** Those within reach of the elected are members of its cluster, whose id is its hash; the others stay under the key that they had. */
export const reach = lookup({
  name: "Reach",
  input: candidate,
  outputs,
  make: () => ({
    found(key, { elected }: { elected?: Elected }, row, context) {
      if (elected === undefined) return;
      if (reachedFrom(elected.hash, row.hash) === undefined) context.emit("beyond", { key, value: row });
      else join(row, elected, context);
    },
  }),
});

type Row = Extract<Candidate, { kind: "row" }>;

/** `leader`: within reach of it. */
function join(row: Row, leader: NonNullable<Elected>, context: Emitter<{ members: typeof outputs.members }>): void {
  const { hash, copies, document } = row;
  const distance = reachedFrom(leader.hash, hash) ?? 0;
  const one = { hash, copies, document, representative: leader.document.urlId, distance };
  context.emit("members", { key: leader.hash, value: { kind: "row", ...one } });
}

/** Rows that are held to be put in order, at a time; 12 MB, and four seconds where each leads itself alone. */
const LED_MAX = 32_768;

const led = { members: keyed(member), crowd: keyed(candidate), counts };

/**
 * Each leads those within its reach whom no better one leads. More than `ledMax` rows under one key are parted by the beginning of their
 * hashes, once more with each level, and led apart: near ones of two parts may be in two clusters then.
 */
export function leadInOrder(ledMax = LED_MAX): GroupedDefinition<Candidate, typeof led, { level: number }, unknown> {
  return {
    form: "grouped",
    name: "LeadInOrder",
    input: candidate,
    outputs: led,
    make({ level }) {
      const tally = newTally();
      return {
        ...tally.lifecycle,
        async process(key, candidates, context) {
          const held: Row[] = [];
          let isCrowd = false;
          const part = (row: Row) => {
            if (level === 0) tally.count("partedHashes");
            context.emit("crowd", { key: partKey(key, row.hash, level + 1), value: row });
          };
          for await (const one of candidates) {
            if (one.kind === "fact") continue;
            if (isCrowd) part(one);
            else held.push(one);
            if (held.length <= ledMax || level === CROWD_LEVELS) continue;
            isCrowd = true;
            for (const row of held.splice(0)) part(row);
          }
          lead(held, context);
        },
      };
    },
  };
}

const HASH_DIGITS = 16;

/** What hangs together is named by its smallest hash, the first of the key. */
function partKey(key: string, hash: string, level: number): string {
  return `${key.slice(0, HASH_DIGITS)}.${partOfCrowd(hash, level)}`;
}

function lead(rows: Row[], context: Emitter<{ members: typeof outputs.members }>): void {
  const ranked = rows.sort((one, other) => (represents(one.document, other.document) ? -1 : 1));
  const list = newHashList();
  for (const { hash } of ranked) addHash(list, halvesOf(hash));
  for (const [place, leader] of leadersOf(list).entries()) join(ranked[place]!, ranked[leader]!, context);
}
