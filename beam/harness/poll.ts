// How is a source a splittable DoFn? Each bundle polls it, then checkpoints itself: the rest comes again after the delay (s.apache.org/splittable-do-fn).
import type { Keyed } from "../dofn.ts";
import { type DelayedApplication, fnApi } from "../fn-sdk.ts";
import { runnerApi } from "../sdk.ts";
import { type Bundle, ElementContext } from "./bundle.ts";
import type { SourceInstance } from "./source-instance.ts";
import type { Work } from "./stage-plan.ts";
import { type Header, headerAt } from "./windowed.ts";
import { WireWriter } from "./wire-bytes.ts";

/**
 * A bundle polls on while there is more at once, and waits for arrivals as long as it has given nothing (no runner's delay can be cut
 * short), in all so long at most: what it has given leaves when it ends, and a checkpoint may wait for that.
 */
const BUNDLE_MS = 500;
const BUNDLE_ELEMENTS = 1024;
/** A source that watches counts on being woken; no runner does that, so it is asked again this soon, whatever it answered. */
const WATCHED_DELAY_MS = 1000;
/** One that does not watch is asked again within a day, even where it answered that it never needs to be. */
const DELAY_MS_MAX = 24 * 60 * 60 * 1000;
/** The end of Date's time: it stands for all before and after. Beam's own is a little further. */
const TIME_MS_MAX = 8.64e15;

/** An element, its restriction with the last watermark, and its size. */
export interface PollInput {
  key: { key: unknown; value: Keyed<string> };
  value: unknown;
}

interface PollCall {
  bundle: Bundle;
  step: number;
  header: Header;
  value: PollInput;
}

/** What its polls give leaves with the bundle; its afterCommits are the bundle's. */
export async function poll(call: PollCall): Promise<void> {
  const { bundle, step } = call;
  const instance = bundle.instances[step] as SourceInstance;
  const { answeredMs, gave } = await pollWhileThereIsMore(call, instance);
  if (bundle.failure !== undefined) return;
  const delayMs = delay({ answeredMs, gave, watched: instance.source.watch !== undefined, stepMs: bundle.parts.delayStepMs });
  bundle.residuals.push(residual(call, { delayMs, watermark: watermarkOf(call, instance) }));
}

interface Polled {
  answeredMs: number;
  gave: boolean;
}

async function pollWhileThereIsMore(call: PollCall, instance: SourceInstance): Promise<Polled> {
  const { bundle, step } = call;
  const { clock } = bundle.parts;
  const { source } = instance;
  const given = () => outputs(bundle, step) + bundle.afterCommits.length;
  const [before, begun] = [given(), clock.now()];
  for (let gave = 0; ; ) {
    const gaveBefore = gave;
    instance.polling();
    // Prism works off a key's elements and timers of event time in the order of event time, so that both are to be of one scale.
    const header = source.watermark && headerAt(watermarkOf(call, instance));
    const answeredMs = await source.poll(new ElementContext(bundle, step, header));
    gave = given() - before;
    const polled = { answeredMs, gave: gave > 0 };
    const spentMs = clock.now() - begun;
    if (gave >= BUNDLE_ELEMENTS || spentMs >= BUNDLE_MS || bundle.failure !== undefined) return polled;
    // One that says that there is more, and gives nothing, is not asked in a circle.
    if (!(answeredMs > 0) && gave > gaveBefore) continue;
    if (!(answeredMs > 0) || gave > 0 || source.watch === undefined) return polled;
    if (!(await instance.arrival(clock, Math.min(answeredMs, BUNDLE_MS - spentMs), bundle.hurries))) return polled;
  }
}

function outputs(bundle: Bundle, step: number): number {
  let sum = 0;
  for (const output of Object.values(bundle.parts.plan.steps[step]!.outputs)) sum += bundle.counts[output.collection]!;
  return sum;
}

/** In whole steps, since some runners know no smaller ones; at once where more is at hand. */
function delay({ answeredMs, gave, watched, stepMs }: Polled & { watched: boolean; stepMs: number }): number {
  if (!(answeredMs > 0)) return 0;
  // After something came more is likely: the shortest delay that this runner keeps.
  const wanted = watched ? Math.min(answeredMs, gave ? stepMs : WATCHED_DELAY_MS) : Math.min(answeredMs, DELAY_MS_MAX);
  return Math.ceil(wanted / stepMs) * stepMs;
}

/** Unix ms, never before the last one. Throws where the source tells no time. What comes later than now comes into being later. */
function watermarkOf({ bundle, value }: PollCall, { source }: SourceInstance): number {
  const told = source.watermark?.() ?? bundle.parts.clock.now();
  if (Number.isNaN(told)) throw new Error("the watermark of a source is a time, not NaN");
  const last = value.key.value.value === "" ? -TIME_MS_MAX : Number(value.key.value.value);
  return Math.floor(Math.max(last, Math.min(told, TIME_MS_MAX)));
}

interface Rest {
  delayMs: number;
  /** Unix ms. */
  watermark: number;
}

function residual({ bundle, step, header, value }: PollCall, { delayMs, watermark }: Rest): DelayedApplication {
  const { plan } = bundle.parts;
  const { id, work } = plan.steps[step]!;
  const { inputId, outputIds } = work as Extract<Work, { kind: "poll" }>;
  const { key: element, value: restriction } = value.key;
  const writer = new WireWriter();
  writer.raw(header);
  const rest = { key: { key: element, value: { key: restriction.key, value: String(watermark) } }, value: value.value };
  plan.sources[0]!.coder.write(writer, rest);
  return fnApi.DelayedBundleApplication.create({
    application: {
      ...{ transformId: id, inputId, element: writer.take() },
      outputWatermarks: Object.fromEntries(outputIds.map((output) => [output, seconds(watermark)])),
      isBounded: runnerApi.IsBounded_Enum.UNBOUNDED,
    },
    requestedTimeDelay: seconds(delayMs),
  });
}

function seconds(ms: number): { seconds: bigint; nanos: number } {
  const whole = Math.floor(ms / 1000);
  return { seconds: BigInt(whole), nanos: (ms - whole * 1000) * 1e6 };
}
