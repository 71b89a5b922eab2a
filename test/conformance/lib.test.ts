// Does the judge of conformance see every way in which a subject can fail?
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, lineOf, type Subject, scoreOf } from "./lib.ts";

const subject = (more: Partial<Subject>): Subject => ({
  name: "sums",
  files: [],
  cases: 3,
  judge(_data, check) {
    check("one", 1, 1);
    check("two", () => ({ sum: 2 }), { sum: 2 });
    check("odd", 5, 3);
  },
  justified: { odd: "clause 1" },
  ...more,
});

test("a subject whose differences are all justified has no fault, and they are counted apart", async () => {
  const { score, faults } = await judged(subject({}));
  assert.deepEqual(faults, []);
  assert.deepEqual(score, { subject: "sums", cases: 3, passed: 2, justified: 1 });
});

const offenders: [situation: string, more: Partial<Subject>, fault: RegExp][] = [
  ["a difference without a clause", { justified: {} }, /^odd: got 5, wanted 3$/],
  ["a justified case that agrees", { justified: { odd: "clause 1", one: "clause 2" } }, /^one: is justified, but agrees/],
  ["a case that went unasked", { cases: 4 }, /^3 cases, not 4$/],
  [
    "a case that throws",
    {
      cases: 1,
      justified: {},
      judge: (_data, check) =>
        check(
          "bad",
          () => {
            throw new Error("oh");
          },
          1,
        ),
    },
    /^bad: got it threw: Error: oh, wanted 1$/,
  ],
];
for (const [situation, more, fault] of offenders)
  test(`${situation} is a fault`, async () => {
    const { faults } = await judged(subject(more));
    assert.equal(faults.length, 1);
    assert.match(faults[0]!, fault);
  });

test("what an asynchronous judge finds is waited for, and what it throws fails the subject", async () => {
  const late = subject({
    justified: {},
    cases: 1,
    judge: async (_data, check) => {
      await null;
      check("late", 1, 2);
    },
  });
  assert.deepEqual((await judged(late)).faults, ["late: got 1, wanted 2"]);
  await assert.rejects(judged(subject({ judge: () => Promise.reject(new Error("broken")) })), /broken/);
});

test("a file that a subject does not name cannot be read: it would not be skipped where it is absent", async () => {
  await assert.rejects(judged(subject({ judge: (data) => void data.bytes("other.json") })), /not among the subject's files/);
});

test("a score reads back from its line, and from nothing else", () => {
  const score = { subject: "URLs: parsing", cases: 10, passed: 7, justified: 3 };
  assert.deepEqual(scoreOf(lineOf(score)), score);
  assert.equal(scoreOf("tests 10"), undefined);
});
