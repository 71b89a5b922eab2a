// What does each kind of step do with an element? One function a kind.
import type { AnyCodec } from "../../schemas/codec.ts";
import type { Keyed } from "../dofn.ts";
import type { AnyDoFn } from "../embedded/instances.ts";
import type { AnyGroupedDefinition } from "../pardo.ts";
import { type Bundle, ElementContext } from "./bundle.ts";
import { eachOf, processGroup } from "./grouped.ts";
import { type PollInput, poll } from "./poll.ts";
import type { Work } from "./stage-plan.ts";
import type { Header } from "./windowed.ts";
import type { WireIterable } from "./wire-iterables.ts";

export interface Call {
  bundle: Bundle;
  /** The number of the step. */
  step: number;
  header: Header;
  value: unknown;
}

type Process = (call: Call) => void | Promise<void>;

/** Where a source has yet to do anything: two texts, ours and the last watermark. */
const WHOLE = { key: "", value: "" };
/** Every restriction weighs the same: a queue does not say how much it holds. */
const SIZE = 1;

export const processors: Readonly<Record<Work["kind"], Process>> = {
  each: ({ bundle, step, header, value }) =>
    (bundle.instances[step] as AnyDoFn).process(value, new ElementContext(bundle, step, header)),
  keyed: ({ bundle, step, header, value }) => bundle.parts.keyed[step]!.element(bundle, header, value as Keyed<unknown>),
  grouped: (call) => processGroup(call, groupedInput(call)),
  poll: ({ bundle, step, header, value }) => poll({ bundle, step, header, value: value as PollInput }),
  pair: (call) => give(call, { key: spread(call.bundle, call.step), value: call.value }),
  unpair: (call) => eachOf(call.bundle, (call.value as Keyed<WireIterable>).value, (value) => give(call, value)),
  restrict: (call) => give(call, { key: call.value, value: WHOLE }),
  split: (call) => give(call, { key: call.value, value: SIZE }),
  // A job that drains ends its sources: nothing is left of an unbounded one.
  truncate: () => undefined,
};

function groupedInput({ bundle, step }: Call): AnyCodec {
  const { work } = bundle.parts.plan.steps[step]!;
  return (work as { definition: AnyGroupedDefinition }).definition.input;
}

/** To the only output. */
function give({ bundle, step, header }: Call, value: unknown): void {
  for (const output of Object.values(bundle.parts.plan.steps[step]!.outputs)) bundle.send(output, header, value);
}

/** Two bytes that are others for each element: as many keys as spread well, few enough for a runner to keep. */
function spread(bundle: Bundle, step: number): Uint8Array {
  const output = Object.values(bundle.parts.plan.steps[step]!.outputs)[0]!;
  const turn = bundle.counts[output.collection]! + bundle.parts.clock.now();
  return Uint8Array.of(turn & 0xff, (turn >> 8) & 0xff);
}
