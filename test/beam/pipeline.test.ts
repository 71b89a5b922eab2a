import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { keyed } from "../../beam/coders.ts";
import type { DoFnDefinition, KeyedDefinition, SourceDefinition } from "../../beam/dofn.ts";
import { DOFN_URN, readDoFn, requirements } from "../../beam/pardo.ts";
import { buildPipeline, type PipelineBuilder } from "../../beam/pipeline.ts";
import { RESHUFFLE_URN } from "../../beam/reshuffle.ts";
import { type PipelineProto, runnerApi } from "../../beam/sdk.ts";
import { struct, text, uint } from "../../schemas/codec.ts";
import { each, sink, word } from "./lib.ts";

const wake = struct({ paceKey: text });
const lease = struct({ url: text });

interface Config {
  hosts: number;
}

const read: SourceDefinition<{ messages: typeof word; wakes: ReturnType<typeof keyed<{ paceKey: string }>> }, Config, unknown> =
  {
    ...{ form: "source", name: "read", outputs: { messages: word, wakes: keyed(wake) } },
    make: () => ({ poll: async () => 1000 }),
  };
const discover: DoFnDefinition<{ word: string }, { wakes: typeof read.outputs.wakes }, Config, unknown> = {
  ...{ form: "each", name: "discover", input: word, outputs: { wakes: keyed(wake) } },
  make: () => ({ process: () => undefined }),
};
const frontier: KeyedDefinition<{ paceKey: string }, { leases: typeof lease }, { host: number }, Config, unknown> = {
  ...{
    form: "keyed",
    name: "frontier",
    input: wake,
    outputs: { leases: lease },
    state: { host: uint },
    timers: ["turn", "idle"],
  },
  make: () => ({ process: () => undefined }),
};
const fetchLease = sink("fetch", lease, () => undefined);

const config = { hosts: 3 };
const crawl = (p: PipelineBuilder) => {
  const given = p.source("Read", read, config);
  const { wakes } = p.each("Discover", discover, config, given.messages);
  const { leases } = p.keyed("Frontier", frontier, config, p.flatten("Wakes", wakes, given.wakes));
  p.each("Fetch", fetchLease, {}, p.reshuffle("Spread", leases));
};

const transform = (proto: PipelineProto, label: string) =>
  Object.values(proto.components!.transforms).find((one) => one.uniqueName === label)!;
const parDo = (proto: PipelineProto, label: string) => runnerApi.ParDoPayload.fromBinary(transform(proto, label).spec!.payload);

/** A coder as text: kv(string_utf8, bytes). */
function spelled(proto: PipelineProto, id: string): string {
  const coder = proto.components!.coders[id]!;
  const name = coder.spec!.urn.replace("beam:coder:", "").replace(":v1", "");
  const parts = coder.componentCoderIds.map((part) => spelled(proto, part));
  return parts.length === 0 ? name : `${name}(${parts.join(", ")})`;
}
const coderOf = (proto: PipelineProto, collection: string) =>
  spelled(proto, proto.components!.pcollections[collection]!.coderId);

suite("the proto of a pipeline", () => {
  const proto = buildPipeline(crawl);

  test("survives its binary form, and is the same bytes each time it is built", () => {
    const bytes = runnerApi.Pipeline.toBinary(proto);
    assert.deepEqual(runnerApi.Pipeline.toBinary(runnerApi.Pipeline.fromBinary(bytes)), bytes);
    assert.deepEqual(runnerApi.Pipeline.toBinary(buildPipeline(crawl)), bytes);
  });

  test("names nothing that it does not have", () => {
    const { transforms, pcollections, coders, windowingStrategies, environments } = proto.components!;
    const named = {
      transforms: [...proto.rootTransformIds, ...Object.values(transforms).flatMap((one) => one.subtransforms)],
      pcollections: Object.values(transforms).flatMap((one) => [...Object.values(one.inputs), ...Object.values(one.outputs)]),
      coders: [
        ...Object.values(pcollections).map((one) => one.coderId),
        ...Object.values(coders).flatMap((one) => one.componentCoderIds),
        ...Object.values(windowingStrategies).map((one) => one.windowCoderId),
        ...Object.values(parDo(proto, "Frontier").timerFamilySpecs).map((one) => one.timerFamilyCoderId),
        parDo(proto, "Read").restrictionCoderId,
      ],
      windowingStrategies: Object.values(pcollections).map((one) => one.windowingStrategyId),
      environments: Object.values(transforms).flatMap((one) => (one.environmentId === "" ? [] : [one.environmentId])),
    };
    for (const [kind, ids] of Object.entries(named)) {
      const known = proto.components![kind as keyof typeof named];
      assert.deepEqual(
        ids.filter((id) => known[id] === undefined),
        [],
        kind,
      );
    }
    assert.ok(Object.keys(environments).length > 0);
  });

  test("asks for what the DoFns need, once each", () => {
    assert.deepEqual([...proto.requirements].sort(), Object.values(requirements).sort());
  });

  test("carries DoFns by name, form and configuration", () => {
    const payload = parDo(proto, "Frontier");
    assert.equal(payload.doFn!.urn, DOFN_URN);
    assert.deepEqual(readDoFn(payload), { name: "frontier", form: "keyed", config });
    assert.equal(payload.requestsFinalization, true);
  });

  test("keeps state cells as bags of bytes, and timers of processing time under text keys", () => {
    const { stateSpecs, timerFamilySpecs } = parDo(proto, "Frontier");
    const { spec, protocol } = stateSpecs.host!;
    assert.equal(protocol!.urn, "beam:user_state:bag:v1");
    assert.equal(spec.oneofKind === "bagSpec" && spelled(proto, spec.bagSpec.elementCoderId), "bytes");
    assert.deepEqual(Object.keys(timerFamilySpecs), ["turn", "idle"]);
    assert.equal(timerFamilySpecs.turn!.timeDomain, runnerApi.TimeDomain_Enum.PROCESSING_TIME);
    assert.equal(spelled(proto, timerFamilySpecs.turn!.timerFamilyCoderId), "timer(string_utf8, global_window)");
  });

  test("shows keys where a keyed transform reads, and plain bytes elsewhere", () => {
    const [input] = Object.values(transform(proto, "Frontier").inputs);
    assert.equal(coderOf(proto, input!), "kv(string_utf8, bytes)");
    assert.equal(coderOf(proto, transform(proto, "Frontier").outputs.leases!), "bytes");
    assert.equal(coderOf(proto, transform(proto, "Read").outputs.wakes!), "kv(string_utf8, bytes)");
  });

  test("is unbounded from its sources on, which are splittable", () => {
    assert.equal(spelled(proto, parDo(proto, "Read").restrictionCoderId), "kv(string_utf8, string_utf8)");
    const made = Object.values(transform(proto, "Read").inputs);
    const bounded = Object.entries(proto.components!.pcollections).filter(
      ([, one]) => one.isBounded !== runnerApi.IsBounded_Enum.UNBOUNDED,
    );
    assert.deepEqual(
      bounded.map(([id]) => id),
      made,
    );
  });

  test("reshuffles by Beam's composite: pair, group at once, unpair, in the windowing it had", () => {
    const spread = transform(proto, "Spread");
    assert.equal(spread.spec!.urn, RESHUFFLE_URN);
    const parts = spread.subtransforms.map((id) => proto.components!.transforms[id]!);
    assert.deepEqual(
      parts.map((part) => part.uniqueName),
      ["Spread/Pair", "Spread/Group", "Spread/Unpair"],
    );
    assert.equal(parts[1]!.spec!.urn, "beam:transform:group_by_key:v1");
    const collection = (part: number) => proto.components!.pcollections[parts[part]!.outputs.main!]!;
    assert.equal(spelled(proto, collection(1).coderId), "kv(bytes, iterable(bytes))");
    assert.equal(
      proto.components!.windowingStrategies[collection(0).windowingStrategyId]!.trigger!.trigger.oneofKind,
      "always",
    );
    const before = proto.components!.pcollections[Object.values(spread.inputs)[0]!]!;
    assert.deepEqual({ ...collection(2), uniqueName: "" }, { ...before, uniqueName: "" });
  });
});

suite("a pipeline that does not fit together", () => {
  const sameShape = sink("same-shape", struct({ word: text }), () => undefined);
  const plain: SourceDefinition<{ out: ReturnType<typeof struct<{ key: typeof text; value: typeof wake }>> }, Config, unknown> =
    {
      ...{ form: "source", name: "plain", outputs: { out: struct({ key: text, value: wake }) } },
      make: read.make as never,
    };
  const cases: [situation: string, build: (p: PipelineBuilder) => void, message: RegExp][] = [
    [
      "a label used twice",
      (p) => {
        p.source("Read", read, config);
        p.source("Read", read, config);
      },
      /Duplicate stage name/,
    ],
    [
      "two codecs of one shape",
      (p) => void p.each("Take", sameShape, {}, p.source("Read", read, config).messages),
      /^Error: Take: an input has another codec/,
    ],
    [
      "a flatten of two codecs",
      (p) => {
        const { messages } = p.source("Read", read, config);
        const { out } = p.each(
          "Copy",
          each("copy", { in: word, out: struct({ word: text }) }, () => undefined),
          {},
          messages,
        );
        p.flatten("Both", messages, out);
      },
      /^Error: Both: an input has another codec/,
    ],
    [
      "a struct that only looks keyed",
      (p) => void p.keyed("Frontier", frontier, config, p.source("Plain", plain, config).out),
      /^Error: Frontier: its input is not keyed/,
    ],
  ];
  for (const [situation, build, message] of cases)
    test(`${situation} is refused`, () => assert.throws(() => buildPipeline(build), message));

  test("wrong element types and configurations do not compile", () => {
    const wrong = (p: PipelineBuilder) => {
      const given = p.source("Read", read, config);
      // @ts-expect-error words are no wakes
      p.keyed("Frontier", frontier, config, given.messages);
      // @ts-expect-error wakes are no words
      p.each("Discover", discover, config, given.wakes);
      // @ts-expect-error the configuration lacks its hosts
      p.source("Again", read, {});
      // @ts-expect-error words and wakes do not flatten
      p.flatten("Both", given.messages, given.wakes);
      // @ts-expect-error it has no such output
      given.letters;
    };
    assert.equal(typeof wrong, "function");
  });
});
