import assert from "node:assert/strict";
import { test } from "node:test";
import { fromWire, toWire } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { readDoFn, requirements } from "../../../beam/pardo.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { messageBody, PUBSUB_READ_URN, type PubsubRead, withPubsubReads } from "../../../beam/portable/pubsub-reads.ts";
import { type PipelineProto, runnerApi } from "../../../beam/sdk.ts";
import { CodecError, encode, struct, text } from "../../../schemas/codec.ts";
import { batches, sink, word } from "../lib.ts";

const proto = buildPipeline((p) => {
  for (const label of ["Words", "More"]) {
    const { out } = p.source(label, batches(`read-${label}`, word, []), { of: label });
    p.each(
      `Take${label}`,
      sink(`take-${label}`, word, () => undefined),
      {},
      out,
    );
  }
});
const decoder: DoFnDefinition<Uint8Array, { out: typeof word }, object, unknown> = {
  ...{ form: "each", name: "decode-words", input: messageBody(word), outputs: { out: word } },
  make: () => ({ process: (body, context) => context.emit("out", fromWire(word, body) as { word: string }) }),
};
const subscription = "projects/p/subscriptions/words";
const reads = { Words: { subscription, decoder }, More: { subscription: "projects/p/subscriptions/more", decoder } };

const transformOf = (pipeline: PipelineProto, label: string) =>
  Object.values(pipeline.components!.transforms).find(({ uniqueName }) => uniqueName === label);

test("each source is the runner's read of its subscription, and a decoder with the source's configuration", () => {
  const native = withPubsubReads(proto, reads);
  const read = transformOf(native, "Words.Pubsub");
  assert.equal(read?.spec?.urn, PUBSUB_READ_URN);
  assert.equal(read?.environmentId, "");
  assert.deepEqual(read?.inputs, {});
  assert.deepEqual(
    runnerApi.PubSubReadPayload.fromBinary(read!.spec!.payload),
    runnerApi.PubSubReadPayload.create({ subscription }),
  );
  const words = transformOf(native, "Words");
  assert.deepEqual(Object.values(words!.inputs), Object.values(read!.outputs));
  const payload = runnerApi.ParDoPayload.fromBinary(words!.spec!.payload);
  assert.deepEqual(readDoFn(payload), { name: "decode-words", form: "each", config: { of: "Words" } });
  assert.equal(payload.restrictionCoderId, "");
  const messages = native.components?.pcollections[Object.values(read!.outputs)[0]!];
  assert.equal(messages?.isBounded, runnerApi.IsBounded_Enum.UNBOUNDED);
  assert.equal(native.components?.coders[messages!.coderId]?.spec?.urn, "beam:coder:bytes:v1");
});

test("nothing of a source is left: no impulse, no splitting", () => {
  const native = withPubsubReads(proto, reads);
  const urns = Object.values(native.components!.transforms).map(({ spec }) => spec?.urn);
  assert.ok(!urns.includes("beam:transform:impulse:v1"));
  assert.ok(!native.requirements.includes(requirements.splittable));
  assert.ok(proto.requirements.includes(requirements.splittable), "the pipeline given stays as it was");
});

const wrong: [what: string, reads: Record<string, PubsubRead>, fault: RegExp][] = [
  ["a source without a subscription", { Words: reads.Words }, /no subscription is given for the source More/],
  ["a read of no source", { ...reads, Other: reads.More }, /the pipeline has no source Other/],
  ["another form of subscription", { ...reads, More: { subscription: "more", decoder } }, /a subscription is projects/],
  [
    "a decoder of other outputs",
    { ...reads, More: { subscription, decoder: { name: "d", outputs: { others: word } } } },
    /More gives out, and its decoder 'd' gives others/,
  ],
];
for (const [what, given, fault] of wrong)
  test(`${what} is refused`, () => assert.throws(() => withPubsubReads(proto, given), fault));

test("a decoder is given the message's body, whatever it is", () => {
  const named = struct({ name: text });
  for (const body of [encode(named, { name: "" }), Uint8Array.of(1), Uint8Array.of(1, 255, 255), encode(word, { word: "x" })])
    assert.deepEqual([...(fromWire(messageBody(named), body) as Uint8Array)], [...body]);
  assert.throws(() => fromWire(messageBody(named), Uint8Array.of(2, 0)), CodecError);
});

test("a body survives the way through a codec", () => {
  const body = encode(word, { word: "wörd" });
  const wire = toWire(messageBody(word), body);
  assert.deepEqual(fromWire(messageBody(word), wire), body);
});
