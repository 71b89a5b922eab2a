import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fromWire, start } from "../../beam/coders.ts";
import { readGraph } from "../../beam/embedded/read-graph.ts";
import { readDoFn } from "../../beam/pardo.ts";
import { type BatchBuilder, buildBatch } from "../../beam/pipeline.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import { type PipelineProto, runnerApi } from "../../beam/sdk.ts";
import { encode } from "../../schemas/codec.ts";
import { adding, count, given, groupCodec, grouping, keyedCount, told } from "./batch/lib.ts";
import { sink, word } from "./lib.ts";

const read = given("read", keyedCount, () => []);
const plain = given("plain", word, () => []);
const groups = told(groupCodec, () => undefined, "groups");
const sums = told(keyedCount, () => undefined, "sums");

const daily = (p: BatchBuilder) => {
  const { out } = p.start("Read", read, {});
  const spread = p.reshuffle("Spread", p.flatten("Both", out, p.start("More", read, {}).out));
  p.each("Groups", groups, {}, p.grouped("Group", grouping, {}, spread).out);
  p.each("Sums", sums, {}, p.combined("Add", adding, out));
};

const transform = (proto: PipelineProto, label: string) =>
  Object.values(proto.components!.transforms).find((one) => one.uniqueName === label)!;
const dofn = (proto: PipelineProto, label: string) =>
  readDoFn(runnerApi.ParDoPayload.fromBinary(transform(proto, label).spec!.payload));

suite("the proto of a bounded pipeline", () => {
  const proto = buildBatch(daily);

  test("is bounded throughout, and asks for no splitting, state or timers", () => {
    for (const { isBounded, uniqueName } of Object.values(proto.components!.pcollections))
      assert.equal(isBounded, runnerApi.IsBounded_Enum.BOUNDED, uniqueName);
    assert.deepEqual(proto.requirements, ["beam:requirement:pardo:finalization:v1"]);
  });

  test("groups by Beam's own grouping, whose DoFn says its form", () => {
    const [collection] = Object.values(transform(proto, "Group.Group").outputs);
    assert.equal(transform(proto, "Group.Group").spec!.urn, "beam:transform:group_by_key:v1");
    assert.deepEqual(Object.values(transform(proto, "Group").inputs), [collection]);
    assert.deepEqual(dofn(proto, "Group"), { name: "grouping", form: "grouped", config: {} });
  });

  test("combines in part, groups, and combines whole, by DoFns of one name", () => {
    assert.deepEqual(dofn(proto, "Add.Partial"), { name: "adding", form: "each", config: {} });
    assert.equal(transform(proto, "Add.Group").spec!.urn, "beam:transform:group_by_key:v1");
    assert.deepEqual(dofn(proto, "Add"), { name: "adding", form: "grouped", config: {} });
  });

  test("has a stage for each start, spread and grouping, in an order in which each has what it needs", () => {
    const stages = readGraph(proto, dofnRegistry([read, grouping, adding, groups, sums]));
    const told = stages.map(({ kind, name, steps }) => [kind, name, steps.map((step) => step.name)]);
    assert.deepEqual(told, [
      ["start", "Read", ["Read", "Add.Partial"]],
      ["start", "More", ["More"]],
      ["spread", "Spread", []],
      ["grouped", "Group", ["Group", "Groups"]],
      ["grouped", "Add", ["Add", "Sums"]],
    ]);
    assert.equal(stages[2]!.input, keyedCount);
    assert.equal(stages[3]!.input, count);
  });
});

suite("a bounded pipeline that does not fit together", () => {
  const cases: [situation: string, build: (p: BatchBuilder) => void, message: RegExp][] = [
    [
      "a start that wants elements",
      (p) => void p.start("Take", sink("take", word, () => undefined) as never, {}),
      /^Error: Take: an in/,
    ],
    [
      "groups without keys",
      (p) => void p.grouped("Group", grouping, {}, p.start("Read", plain, {}).out as never),
      /Group: its input is not k/,
    ],
    [
      "combining without keys",
      (p) => void p.combined("Add", adding, p.start("Read", plain, {}).out as never),
      /^Error: Add: its input is not/,
    ],
    [
      "groups of another codec",
      (p) => void p.grouped("G", { ...grouping, input: { ...count } }, {}, p.start("Read", read, {}).out),
      /another codec/,
    ],
  ];
  for (const [situation, build, message] of cases)
    test(`${situation} is refused`, () => assert.throws(() => buildBatch(build), message));

  test("a grouping that no DoFn of groups takes is no pipeline of ours", () => {
    const proto = buildBatch(daily);
    const group = Object.entries(proto.components!.transforms).find(([, one]) => one.uniqueName === "Group")![0];
    delete proto.components!.transforms[group];
    proto.rootTransformIds = proto.rootTransformIds.filter((id) => id !== group);
    const groupsOf = Object.values(transform(proto, "Group.Group").outputs)[0]!;
    transform(proto, "Groups").inputs = { main: groupsOf };
    const registry = dofnRegistry([read, grouping, adding, groups, sums]);
    assert.throws(() => readGraph(proto, registry), /Groups: a DoFn of groups takes a grouping by key, and nothing else does/);
  });

  test("wrong element types and configurations do not compile", () => {
    const wrong = (p: BatchBuilder) => {
      const { out } = p.start("Read", plain, {});
      // @ts-expect-error words are under no keys
      p.grouped("Group", grouping, {}, out);
      // @ts-expect-error nor can they be added
      p.combined("Add", adding, out);
      // @ts-expect-error a bounded pipeline has no sources
      p.source("Source", plain, {});
    };
    assert.equal(typeof wrong, "function");
  });
});

test("what a bounded pipeline begins with is read from Beam's impulse, and from its own bytes", () => {
  assert.deepEqual(fromWire(start, new Uint8Array()), {});
  assert.deepEqual(fromWire(start, encode(start, {})), {});
});
