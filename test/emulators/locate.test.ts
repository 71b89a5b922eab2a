import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { EMULATOR_NAMES, emulatorsMissing, locate, type Machine } from "./locate.ts";

const PUBSUB = "sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-1.2.3-all.jar";
const BIGTABLE = "sdk/platform/bigtable-emulator/cbtemulator";

const cases: [machine: string, files: readonly string[], found: [pubsub: string, bigtable: string, storage: string]][] = [
  ["nothing", [], ["missing", "missing", "missing"]],
  ["the SDK and a java", [PUBSUB, BIGTABLE, "bin/java"], ["bin/java", BIGTABLE, "missing"]],
  ["the SDK and no java", [PUBSUB, BIGTABLE], ["missing", BIGTABLE, "missing"]],
  ["an SDK without emulators", ["sdk/platform/x", "bin/java", "bin/go"], ["bin/go", "bin/go", "bin/go"]],
  ["the SDK, a java and Go", [PUBSUB, BIGTABLE, "bin/java", "bin/go"], ["bin/java", BIGTABLE, "bin/go"]],
  ["the SDK, Go, but no java", [PUBSUB, BIGTABLE, "bin/go"], ["bin/go", BIGTABLE, "bin/go"]],
];
for (const [name, files, expected] of cases)
  test(`a machine with ${name} has its emulators`, (context) => {
    const { machine, folder } = machineWith(files);
    context.after(() => rmSync(folder, { recursive: true }));
    const found = EMULATOR_NAMES.map((one) => {
      const located = locate(one, machine);
      if (located.kind === "missing") return "missing";
      return (located.source.build?.go ?? located.source.program).slice(folder.length + 1);
    });
    assert.deepEqual(found, expected);
  });

test("what Go has built once is taken, without a Go", (context) => {
  const { machine, folder } = machineWith(["bin/go"]);
  context.after(() => rmSync(folder, { recursive: true }));
  const located = locate("storage", machine);
  assert.ok(located.kind === "found" && located.source.build !== undefined);
  write(located.source.program);
  const again = locate("storage", { ...machine, path: [] });
  assert.ok(again.kind === "found" && again.source.build === undefined);
});

test("the reason names each that is missing and what would help, and those that are not wanted are not told of", (context) => {
  const { machine, folder } = machineWith([BIGTABLE, PUBSUB]);
  context.after(() => rmSync(folder, { recursive: true }));
  assert.equal(emulatorsMissing({ bigtable: true }, machine), undefined);
  assert.equal(
    emulatorsMissing({ pubsub: true, bigtable: true, storage: true }, machine),
    "no emulator of pubsub: the Cloud SDK's needs a java, and there is none, and no Go to build one; " +
      "storage: the Cloud SDK has none, and no Go to build one",
  );
});

function machineWith(files: readonly string[]): { machine: Machine; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-locate-"));
  for (const file of files) write(join(folder, file));
  const sdkRoots = files.some((file) => file.startsWith("sdk/")) ? [join(folder, "sdk")] : [];
  return { folder, machine: { path: [join(folder, "bin")], sdkRoots, cache: join(folder, "cache") } };
}

function write(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "", { mode: 0o755 });
}
