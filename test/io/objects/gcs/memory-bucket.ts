// A bucket in memory, for tests that cut a program off between any two calls: the same answers as Cloud Storage, and as strict.
import { createHash } from "node:crypto";
import { COMPOSE_PARTS_MAX, type ObjectBucket, type ObjectFacts } from "../../../../io/objects/gcs/bucket.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";

export interface MemoryBucket extends ObjectBucket {
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

/** `meet` is called before and after each call that changes something, and may reject: the caller then never hears of it. */
export function memoryBucket(
  createdAt: number,
  meet: (when: "before" | "after") => Promise<void> = async () => {},
): MemoryBucket {
  const objects = new Map<string, Uint8Array>();
  const facts = new Map<string, ObjectFacts>();
  let generation = 0;

  const put = (name: string, bytes: Uint8Array, composed: boolean): ObjectFacts => {
    const own: ObjectFacts = { name, generation: String(++generation), bytes: bytes.length, createdAt };
    if (!composed) own.md5 = createHash("md5").update(bytes).digest("base64");
    objects.set(name, bytes);
    facts.set(name, own);
    return own;
  };
  const changing = async <T>(change: () => T | Promise<T>): Promise<T> => {
    await meet("before");
    const result = await change();
    await meet("after");
    return result;
  };
  const partBytes = ({ name, generation }: ObjectFacts): Uint8Array => {
    if (facts.get(name)?.generation !== generation) throw new StoreError(`no part ${name}`, { final: true });
    return objects.get(name)!;
  };
  return {
    name: "memory",
    objects,
    create: ({ name, bytes }) =>
      changing(() => {
        if (objects.has(name)) return "taken";
        put(name, bytes, false);
        return "created";
      }),
    replace: ({ name, open }) =>
      changing(async () => {
        put(name, Buffer.concat(await open().toArray()), false);
      }),
    describe: async (name) => facts.get(name),
    async read(name, range) {
      const bytes = objects.get(name);
      return range === undefined ? bytes : bytes?.subarray(range.from, range.from + range.length);
    },
    async *pieces(name) {
      const bytes = objects.get(name);
      if (bytes === undefined) throw new StoreError(`no object ${name}`, { final: true, cause: { code: 404 } });
      yield bytes;
    },
    async *list(prefix) {
      for (const name of [...objects.keys()].sort()) {
        const found = name.startsWith(prefix) ? facts.get(name) : undefined;
        if (found !== undefined) yield found;
      }
    },
    compose: ({ name }, parts) =>
      changing(() => {
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
        const standing = facts.get(name);
        if (standing?.bytes === bytes) return standing;
        if (standing !== undefined || parts.length > COMPOSE_PARTS_MAX)
          throw new StoreError(`cannot compose ${name}`, { final: true });
        return put(name, Buffer.concat(parts.map(partBytes)), true);
      }),
    remove: ({ name, generation }) =>
      changing(() => {
        if (generation !== undefined && facts.get(name)?.generation !== generation) return;
        objects.delete(name);
        facts.delete(name);
      }),
  };
}
