import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../io/clock.ts";
import { sleep } from "../../ports/clock.ts";

test("now is whole Unix ms near the wall's, and never steps back", (context) => {
  const clock = systemClock();
  assert.ok(Number.isInteger(clock.now()));
  assert.ok(Math.abs(clock.now() - Date.now()) < 5000);
  const before = clock.now();
  context.mock.method(Date, "now", () => 0);
  assert.ok(clock.now() >= before);
});

test("after runs once, when its delay has passed and not before", async () => {
  const clock = systemClock();
  for (const delayMs of [0.5, 1, 2, 3, 5, 8]) {
    const begun = clock.now();
    await sleep(clock, delayMs);
    assert.ok(clock.now() - begun >= Math.floor(delayMs), `${clock.now() - begun} of ${delayMs} ms`);
  }
});

for (const delayMs of [0, -1, Number.NaN]) {
  test(`a delay of ${delayMs} runs soon, but not within the call`, async () => {
    let ran = 0;
    systemClock().after(delayMs, () => ran++);
    assert.equal(ran, 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(ran, 1);
  });
}

for (const delayMs of [0, 1, 2 ** 31, Number.POSITIVE_INFINITY]) {
  test(`what is to run after ${delayMs} ms does not run once it is called off, nor before`, async () => {
    const clock = systemClock();
    let ran = 0;
    const callOff = clock.after(delayMs, () => ran++);
    if (delayMs > 1) await sleep(clock, 5);
    callOff();
    callOff();
    await sleep(clock, 5);
    assert.equal(ran, 0);
  });
}
