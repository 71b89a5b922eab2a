// Does the first signal stop a command cleanly, the same press heard twice change nothing, and a second press end the process?
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { stopOnSignals } from "../../../pipelines/commands/stop-signals.ts";

test("a press that comes twice stops once; afterwards signals are nobody's", () => {
  const before = [process.listenerCount("SIGINT"), process.listenerCount("SIGTERM")];
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    let at = 1_000;
    let stops = 0;
    const signals = stopOnSignals({
      now: () => at,
      stop: () => {
        stops++;
      },
    });
    try {
      assert.equal(signals.stopped(), false);
      process.emit(signal, signal);
      at += 500;
      process.emit(signal, signal);
      assert.deepEqual([signals.stopped(), stops], [true, 1]);
    } finally {
      signals.end();
    }
  }
  assert.deepEqual([process.listenerCount("SIGINT"), process.listenerCount("SIGTERM")], before);
});

test("a second press ends the process at once, with the code of an interruption", () => {
  const file = join(import.meta.dirname, "../../../pipelines/commands/stop-signals.ts");
  const script = `
    const { stopOnSignals } = await import(${JSON.stringify(file)});
    let at = 0;
    stopOnSignals({ now: () => at, stop: () => console.log("stopping") });
    process.emit("SIGTERM");
    at = 501;
    process.emit("SIGINT");
    console.log("still here");`;
  const options = { encoding: "utf8", timeout: 20_000 } as const;
  const ended = spawnSync(process.execPath, ["--input-type=module", "--eval", script], options);
  assert.deepEqual([ended.status, ended.stdout], [130, "stopping\n"], ended.stderr);
});
