import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonLog, textLog } from "../../io/log.ts";
import type { Clock } from "../../ports/clock.ts";
import { type LogLevel, logLevels } from "../../ports/log.ts";

const clock: Clock = { now: () => Date.UTC(2026, 0, 2, 12, 34, 56, 789), after: () => () => {} };
const forms = [
  ["json", jsonLog],
  ["text", textLog],
] as const;

function written(form: typeof jsonLog, message: string, fields?: Record<string, unknown>, level: LogLevel = "info"): string[] {
  const lines: string[] = [];
  form((line) => lines.push(line), "info", clock)(level, message, fields);
  return lines;
}

test("a JSON line holds time, level and message, then the fields; no field hides them", () => {
  const [line] = written(jsonLog, "fetched", { url: "http://a.example/", status: 200, level: "mine" });
  const expected = {
    time: "2026-01-02T12:34:56.789Z",
    level: "info",
    message: "fetched",
    url: "http://a.example/",
    status: 200,
  };
  assert.deepEqual(JSON.parse(line!), { ...expected, field_level: "mine" });
});

test("a text line is for people", () => {
  assert.deepEqual(
    written(textLog, "host is slow", { host: "a.example", seconds: 3, why: "no answer", none: undefined }, "warn"),
    ['12:34:56 warn  host is slow host=a.example seconds=3 why="no answer"'],
  );
});

for (const [name, form] of forms) {
  test(`${name}: lines beyond the level are not written`, () => {
    for (const [at, level] of logLevels.entries())
      assert.equal(written(form, "said", {}, level).length, at <= 2 ? 1 : 0, level);
  });

  test(`${name}: no string, name or message puts a control character or a second line out`, () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\n", "\r", "\x1b[2J", "\x7f", "\x9b", "\u2028", "\u202e", "\ufeff", '"', "\\", "="),
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(text, text, text, (message, field, value) => {
        const [line, ...more] = written(form, message, { [field]: value, list: [value], why: new Error(value) });
        assert.deepEqual(more, []);
        assert.doesNotMatch(line!, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u);
        if (form === jsonLog) assert.equal(JSON.parse(line!).message, message);
      }),
    );
  });

  test(`${name}: what cannot be written as JSON is told all the same, and no value is endless`, () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const thrower = Object.defineProperty({}, "field", { enumerable: true, get: () => assert.fail("read") });
    const wide = Array.from({ length: 50 }, () =>
      Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => "x".repeat(3000))),
    );
    const fields = {
      circle,
      thrower,
      big: 10n,
      bytes: new Uint8Array(7),
      no: Number.NaN,
      date: new Date(0),
      map: new Map([[1, 2]]),
    };
    const [line] = written(form, "odd", { ...fields, proxy: new Proxy({}, { ownKeys: () => assert.fail("read") }), wide });
    for (const part of ["[7 bytes]", "1970-01-01", "NaN", "[unreadable]", "[more]"]) assert.ok(line!.includes(part), part);
    assert.ok(line!.length < 1_500_000);
  });
}

test("an error is told with its cause", () => {
  const [line] = written(jsonLog, "failed", { error: new TypeError("outer", { cause: new Error("inner") }) });
  assert.deepEqual(JSON.parse(line!).error, {
    name: "TypeError",
    message: "outer",
    cause: { name: "Error", message: "inner" },
  });
});
