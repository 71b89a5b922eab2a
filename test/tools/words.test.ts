// Are times and a server's text put as people read them?
import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, shown, when } from "../../tools/lib/words.ts";

test("a duration names its two largest units", () => {
  const table: [ms: number, words: string][] = [
    [-5, "0 ms"],
    [0, "0 ms"],
    [999.4, "999 ms"],
    [1000, "1 s"],
    [59_940, "59.9 s"],
    [60_000, "1 min"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h"],
    [86_399_999, "23 h 59 min"],
    [6.98 * 86_400_000, "6 d 23 h"],
  ];
  for (const [ms, words] of table) assert.equal(duration(ms), words);
});

test("a time is told from now, before or after", () => {
  assert.equal(when(5000, 0), "1970-01-01T00:00:05.000Z, in 5 s");
  assert.equal(when(0, 5000), "1970-01-01T00:00:00.000Z, 5 s ago");
  assert.match(when(Number.MAX_SAFE_INTEGER, 0), /^9007199254740991, in/);
});

test("a server's text neither moves the cursor nor fills the screen", () => {
  assert.equal(shown("a\u001b[2Jb\n\u202ec"), "a\ufffd[2Jb\ufffd\ufffdc");
  assert.equal(shown("x".repeat(300)).length, 201);
});
