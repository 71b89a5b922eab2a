// What must hold of every place that takes lines? Registers one suite for one adapter.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Lines } from "../../ports/archive.ts";

export interface MadeLines {
  lines: Lines;
  /** What stands in each of its files or objects; asked after its close. */
  written(): Promise<string[][]>;
  close(): Promise<void>;
}

/** `make` gives an empty place, for each test a new one. */
export function linesContract(name: string, make: () => Promise<MadeLines>): void {
  const on = (situation: string, append: (lines: Lines) => Promise<void>, check: (parts: string[][]) => void): void => {
    test(situation, async () => {
      const made = await make();
      try {
        await append(made.lines);
        await made.lines.close();
        check(await made.written());
      } finally {
        await made.close();
      }
    });
  };
  describe(`lines: ${name}`, () => {
    kept(on);
    crowds(on);
  });
}

type On = (situation: string, append: (lines: Lines) => Promise<void>, check: (parts: string[][]) => void) => void;

const line = (text: string) => JSON.stringify({ text });

function kept(on: On): void {
  on(
    "what takes no line leaves none",
    (lines) => lines.append([]),
    (parts) => assert.deepEqual(parts.flat(), []),
  );

  const given = ["", "é \u{1f600}", "x".repeat(300_000), "a\nb"].map(line);
  on(
    "lines stand as they were given, in their order",
    async (lines) => {
      await lines.append(given.slice(0, 1));
      await lines.append(given.slice(1));
    },
    (parts) => assert.deepEqual(parts.flat(), given),
  );
}

function crowds(on: On): void {
  const appends = Array.from({ length: 200 }, (_, at) =>
    Array.from({ length: 1 + (at % 5) }, (_, part) => line(`${at}.${part}`)),
  );
  on(
    "the lines of two hundred appends at once stand once each, those of an append next to each other",
    async (lines) => {
      await Promise.all(appends.map((each) => lines.append(each)));
    },
    (parts) => {
      const where = new Map(parts.flatMap((part, file) => part.map((each, at) => [each, { file, at }])));
      assert.equal(parts.flat().length, appends.flat().length);
      for (const each of appends) {
        const first = where.get(each[0]!)!;
        for (const [at, one] of each.entries()) assert.deepEqual(where.get(one), { file: first.file, at: first.at + at });
      }
    },
  );

  on(
    "an append that was not waited for stands after the close",
    async (lines) => {
      void lines.append([line("late")]);
    },
    (parts) => assert.deepEqual(parts.flat(), [line("late")]),
  );
}
