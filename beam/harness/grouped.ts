// How does a group come to its DoFn? Its values are decoded as they are asked for; those that the runner keeps are fetched page by page.

import { sleep } from "../../ports/clock.ts";
import { type AnyCodec, decode } from "../../schemas/codec.ts";
import type { GroupedDoFn, Keyed, Outputs } from "../dofn.ts";
import { type Bundle, ElementContext } from "./bundle.ts";
import type { Call } from "./steps.ts";
import { readPage, type WireIterable } from "./wire-iterables.ts";

/** Values between two turns of the event loop, in which what was emitted leaves. */
const VALUES_A_TURN = 1000;

export function processGroup({ bundle, step, header, value }: Call, codec: AnyCodec): void | Promise<void> {
  const { key, value: values } = value as Keyed<WireIterable>;
  const doFn = bundle.instances[step] as unknown as GroupedDoFn<unknown, Outputs>;
  return doFn.process(key, once(decoded(bundle, values, codec)), new ElementContext(bundle, step, header));
}

/** Gives each as it stands on the wire; a promise where some are kept by the runner. */
export function eachOf(bundle: Bundle, values: WireIterable, give: (value: unknown) => void): void | Promise<void> {
  for (const value of values) give(value);
  if (values.rest !== undefined) return eachKept(bundle, values.rest, give);
}

async function eachKept(bundle: Bundle, rest: NonNullable<WireIterable["rest"]>, give: (value: unknown) => void) {
  for await (const page of pagesOf(bundle, rest)) for (const value of page) give(value);
}

async function* decoded(bundle: Bundle, values: WireIterable, codec: AnyCodec): AsyncGenerator<unknown> {
  let count = 0;
  for (const value of values) {
    bundle.mustWork();
    if (++count % VALUES_A_TURN === 0) await turn(bundle);
    yield decode(codec, value as Uint8Array);
  }
  if (values.rest === undefined) return;
  for await (const page of pagesOf(bundle, values.rest))
    for (const value of page) {
      bundle.mustWork();
      if (++count % VALUES_A_TURN === 0) await turn(bundle);
      yield decode(codec, value as Uint8Array);
    }
}

async function* pagesOf(
  { parts }: Bundle,
  { token, of }: NonNullable<WireIterable["rest"]>,
): AsyncGenerator<readonly unknown[]> {
  let left: Uint8Array = new Uint8Array();
  for await (const page of parts.kept(token)) {
    const read = readPage(left.length === 0 ? page : Buffer.concat([left, page]), of);
    left = read.left;
    yield read.values;
  }
  if (left.length > 0) throw new Error("the values that the runner keeps end within one");
}

/** For the runner to take what has left. */
async function turn(bundle: Bundle): Promise<void> {
  await sleep(bundle.parts.clock, 0);
  for (const sink of bundle.parts.sinks) {
    const drained = sink.drained();
    if (drained !== undefined) await Promise.race([drained, bundle.failed]);
  }
}

/** As on the embedded engine, which reads them from a disk. */
function once(values: AsyncGenerator<unknown>): AsyncIterable<unknown> {
  let taken = false;
  return {
    [Symbol.asyncIterator]() {
      if (taken) throw new Error("the values of a group can be iterated once");
      taken = true;
      return values;
    },
  };
}
