import assert from "node:assert/strict";
import { test } from "node:test";
import { readGraph } from "../../beam/embedded/read-graph.ts";
import { buildPipeline } from "../../beam/pipeline.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import { runnerApi } from "../../beam/sdk.ts";
import { baggedWordsDoFn, batches, keyedWord } from "./lib.ts";

const source = batches("source", keyedWord, []);
const doFn = baggedWordsDoFn("bagged", () => undefined);
const built = (of: typeof doFn) => buildPipeline((p) => void p.keyed("Keyed", of, {}, p.source("Source", source, {}).out));

test("bags stand in the proto as cells do, and a family of timers with its domain", () => {
  const { transforms } = built(doFn).components!;
  const keyed = Object.values(transforms).find(({ uniqueName }) => uniqueName === "Keyed")!;
  const { stateSpecs, timerFamilySpecs } = runnerApi.ParDoPayload.fromBinary(keyed.spec!.payload);
  assert.deepEqual(Object.keys(stateSpecs), ["memo", "log"]);
  assert.deepEqual(stateSpecs.log, stateSpecs.memo);
  const { PROCESSING_TIME, EVENT_TIME } = runnerApi.TimeDomain_Enum;
  const domains = Object.entries(timerFamilySpecs).map(([family, { timeDomain }]) => [family, timeDomain]);
  assert.deepEqual(domains, [
    ["horn", PROCESSING_TIME],
    ["bell", EVENT_TIME],
  ]);
});

test("a name that is a cell and a bag, or a family of both domains, is refused when the pipeline is built", () => {
  assert.throws(() => built({ ...doFn, bags: { memo: doFn.bags!.log } as never }), /'bagged' declares 'memo' twice/);
  assert.throws(() => built({ ...doFn, eventTimers: ["horn"] }), /'bagged' declares 'horn' twice/);
});

test("a proto whose bags, or the domains of whose timers, are not the DoFn's is refused", () => {
  const { bags: _, ...without } = doFn;
  for (const other of [without, { ...doFn, timers: ["horn", "bell"], eventTimers: [] }]) {
    const registry = dofnRegistry([source, other as typeof doFn]);
    assert.throws(
      () => readGraph(built(doFn), registry),
      /Keyed: the proto and the DoFn 'bagged' differ in state cells or timers/,
    );
  }
});
