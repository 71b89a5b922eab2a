// How do a bundle's elements and timers get from its inbox to its steps? Frame by frame until the last of every stream, no faster than they are worked on.
import { sleep } from "../../ports/clock.ts";
import type { ProcessBundleRequest } from "../fn-sdk.ts";
import type { Bundle } from "./bundle.ts";
import type { Inbox } from "./inboxes.ts";
import type { Frame } from "./messages.ts";
import type { StagePlan } from "./stage-plan.ts";
import { readHeader } from "./windowed.ts";
import { WireCut, WireReader } from "./wire-bytes.ts";

/** Elements between two turns of the event loop: what a state answer waits at most for an element that waits for nothing. */
const ELEMENTS_A_TURN = 1000;

export interface FeedOptions {
  bundle: Bundle;
  inbox: Inbox;
  instruction: string;
  /** What came with the request itself. */
  embedded: ProcessBundleRequest["elements"];
}

/** Resolves when all has begun, or the bundle has failed. Throws where the bytes are not what the coders say. */
export async function feed(options: FeedOptions): Promise<void> {
  const { bundle, inbox } = options;
  const streams = streamsOf(bundle.parts.plan, bundle);
  for (const frame of embeddedFrames(options)) await take(bundle, streams, frame);
  while (streams.size > 0 && bundle.failure === undefined) {
    const next = inbox.next();
    const frame = next instanceof Promise ? await next : next;
    if (frame === undefined) {
      if (bundle.failure === undefined) throw new Error("the inbox of the bundle was closed before its end");
      return;
    }
    await take(bundle, streams, frame);
  }
}

/** One stream of elements or of a family's timers. */
interface Stream {
  /** One element from the reader to its step. Throws WireCut where the bytes end within it. */
  begin(reader: WireReader): void;
  /** What an element that goes on in the next frame has so far. */
  rest: Uint8Array[];
  restBytes: number;
  /** It is not looked at again before so many bytes are there: an element over many frames is read a few times, not once a frame. */
  retryAt: number;
}

function streamsOf(plan: StagePlan, bundle: Bundle): Map<string, Stream> {
  const streams = new Map<string, Stream>();
  const add = (name: string, begin: Stream["begin"]) => streams.set(name, { begin, rest: [], restBytes: 0, retryAt: 0 });
  for (const { id, coder, output } of plan.sources)
    add(nameOf(id, undefined), (reader) => {
      const header = readHeader(reader);
      bundle.send(output, header, coder.read(reader));
    });
  for (const [step, { id, work }] of plan.steps.entries())
    for (const [family, { coder }] of "timers" in work ? work.timers : [])
      add(nameOf(id, family), (reader) => {
        const fired = coder.read(reader);
        if (fired !== undefined) bundle.parts.keyed[step]!.timer(bundle, family, fired);
      });
  return streams;
}

function nameOf(transform: string, family: string | undefined): string {
  return family === undefined ? transform : `${transform}/${family}`;
}

async function take(bundle: Bundle, streams: Map<string, Stream>, frame: Frame): Promise<void> {
  const name = nameOf(frame.transform, frame.family);
  const stream = streams.get(name);
  if (stream === undefined) {
    if (frame.bytes.length === 0) return; // an end told twice
    throw new Error(`the runner sent elements to ${name}, which takes none`);
  }
  await beginAll(bundle, stream, frame);
  if (!frame.last) return;
  if (stream.restBytes > 0) throw new WireCut(`the elements for ${name} end within one`);
  streams.delete(name);
}

async function beginAll(bundle: Bundle, stream: Stream, { bytes, last }: Frame): Promise<void> {
  if (stream.restBytes > 0) {
    stream.rest.push(bytes);
    stream.restBytes += bytes.length;
    if (stream.restBytes < stream.retryAt && !last) return;
  }
  const all = stream.restBytes > 0 ? Buffer.concat(stream.rest) : bytes;
  stream.rest = [];
  stream.restBytes = 0;
  const reader = new WireReader(all);
  for (let count = 1; reader.left > 0; count++) {
    const wait = waits(bundle) ?? (count % ELEMENTS_A_TURN === 0 ? sleep(bundle.parts.clock, 0) : undefined);
    if (wait !== undefined) await wait;
    if (bundle.failure !== undefined) return;
    const from = reader.at;
    try {
      stream.begin(reader);
    } catch (error) {
      if (!(error instanceof WireCut)) throw error;
      reader.at = all.length;
      stream.rest = [reader.viewFrom(from)];
      stream.restBytes = all.length - from;
      stream.retryAt = stream.restBytes * 2;
    }
  }
}

/** For room among the calls under way, or for the runner to take what has left. */
function waits(bundle: Bundle): Promise<void> | undefined {
  const room = bundle.room();
  if (room !== undefined) return room;
  for (const sink of bundle.parts.sinks) {
    const drained = sink.drained();
    if (drained !== undefined) return Promise.race([drained, bundle.failed]);
  }
  return undefined;
}

function* embeddedFrames({ instruction, embedded }: FeedOptions): Iterable<Frame> {
  for (const { transformId: transform, data, isLast } of embedded?.data ?? [])
    yield { instruction, transform, family: undefined, bytes: data, last: isLast };
  for (const { transformId: transform, timerFamilyId: family, timers, isLast } of embedded?.timers ?? [])
    yield { instruction, transform, family, bytes: timers, last: isLast };
}
