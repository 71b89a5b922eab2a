// How does a bag, which runners can only add to or empty, hold the one value of a cell? As its newest element; it is emptied now and then, not at each write.
import { WireReader, WireWriter } from "./wire-bytes.ts";

/** Values as large as the newest that a bag may come to: what a read without a cache brings is so much larger at most. */
const VALUES_MAX = 8;
/** Beyond it a bag holds one value alone: a read costs more by then than the request that a write saves. */
const BAG_BYTES_MAX = 16 * 1024;

/** What stood in the bag before it, in bytes of elements, then the value: so the newest is told from the others in whatever order a runner gives them. */
export type Element = Buffer;

const writer = new WireWriter();

/** Undefined where the bag is empty. `bag`: elements in the nested encoding of bytes, as in every bag of ours. Throws WireError. */
export function newestOf(bag: Uint8Array): Element | undefined {
  const reader = new WireReader(bag);
  let newest: { element: Element; before: number } | undefined;
  while (reader.left > 0) {
    const element = reader.bytes();
    const before = new WireReader(element).uint();
    if (newest === undefined || before >= newest.before) newest = { element, before };
  }
  return newest?.element;
}

/** Not copied. */
export function valueIn(element: Uint8Array): Buffer {
  const reader = new WireReader(element);
  reader.uint();
  return reader.view(reader.left);
}

/** The element that makes `value` the cell's. `newest`: what the bag is known to hold; undefined where it holds nothing, or must be emptied first. */
export function elementAfter(newest: Uint8Array | undefined, value: Uint8Array): { element: Element; empties: boolean } {
  const before = newest === undefined ? 0 : new WireReader(newest).uint() + newest.length;
  const element = elementOf(before, value);
  const room = Math.min(VALUES_MAX * element.length, BAG_BYTES_MAX);
  if (before === 0 || before + element.length <= room) return { element, empties: false };
  return { element: elementOf(0, value), empties: true };
}

/** As it is appended. */
export function inBag(element: Element): Buffer {
  writer.bytes(element);
  return writer.take();
}

function elementOf(before: number, value: Uint8Array): Element {
  writer.uint(before);
  writer.raw(value);
  return writer.take();
}
