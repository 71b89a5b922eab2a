// How does a subject measure itself against the shared data of the field? Every case is counted; what differs is named, with its clause.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

export interface Subject {
  /** As the table calls it; unique. */
  name: string;
  /** What it reads of the shared data folder; all of it is there, or the subject is skipped with a printed reason (with CI set: fails). */
  files: readonly string[];
  /** How many cases there are, so that none goes unasked. */
  cases: number;
  /** The cases that we rightly answer otherwise, by id: the clause or decision that says so. One that passes is a fault as well. */
  justified?: Readonly<Record<string, string>>;
  /** Asks every case by `check`. What it throws is a failure. */
  judge(data: SharedData, check: Check): void | Promise<void>;
}

/** One case: what was got, or a function that gets it (what it throws is a failure of the case), and what is wanted. */
export type Check = (id: string, got: unknown, wanted: unknown) => void;

export interface SharedData {
  bytes(file: string): Buffer;
  json<T>(file: string): T;
  /** Of a file or folder, for those who read by themselves. */
  path(file: string): string;
}

export interface Score {
  subject: string;
  cases: number;
  /** The justified ones not among them. */
  passed: number;
  justified: number;
}

export interface Difference {
  id: string;
  got: unknown;
  wanted: unknown;
}

/** Where the data is, beside the project. */
export const SHARED_DATA = join(import.meta.dirname, "../../../shared/data");

/** Of a subject that fails. */
const FAULTS_SHOWN = 40;

/** Declares the test of a subject, which prints its line. */
export function conformance(subject: Subject): void {
  test(`conformance: ${subject.name}`, async (t) => {
    const missing = subject.files.find((file) => !existsSync(join(SHARED_DATA, file)));
    if (missing !== undefined) {
      assert.ok(!process.env.CI, `${join(SHARED_DATA, missing)} is not there, and CI is set`);
      t.skip(`${join(SHARED_DATA, missing)} is not there`);
      return;
    }
    const { score, faults } = await judged(subject);
    t.diagnostic(lineOf(score));
    const told =
      faults.length > FAULTS_SHOWN ? [...faults.slice(0, FAULTS_SHOWN), `and ${faults.length - FAULTS_SHOWN} more`] : faults;
    assert.deepEqual(told, []);
  });
}

/** Asks all cases of a subject. `faults` are lines for people; none: it conforms. */
export async function judged(subject: Subject): Promise<{ score: Score; faults: string[] }> {
  const differences: Difference[] = [];
  let cases = 0;
  const check: Check = (id, got, wanted) => {
    cases++;
    const answer = answerOf(got);
    if (!isDeepStrictEqual(answer, wanted)) differences.push({ id, got: answer, wanted });
  };
  await subject.judge(sharedData(subject.files), check);
  const justified = subject.justified ?? {};
  const unjustified = differences.filter(({ id }) => !Object.hasOwn(justified, id));
  const differing = new Set(differences.map(({ id }) => id));
  const stale = Object.keys(justified).filter((id) => !differing.has(id));
  const score = {
    subject: subject.name,
    cases,
    passed: cases - differences.length,
    justified: differences.length - unjustified.length,
  };
  const faults = [
    ...unjustified.map(({ id, got, wanted }) => `${id}: got ${shown(got)}, wanted ${shown(wanted)}`),
    ...stale.map((id) => `${id}: is justified, but agrees or is not there`),
    ...(cases === subject.cases ? [] : [`${cases} cases, not ${subject.cases}`]),
  ];
  return { score, faults };
}

/** A score as its test prints it, and run.ts reads it. */
export function lineOf({ subject, cases, passed, justified }: Score): string {
  return `${subject}: ${cases} cases, ${passed} passed, ${justified} justified differences`;
}

/** Undefined where a line is none of lineOf's. */
export function scoreOf(line: string): Score | undefined {
  const found = /^(.*): (\d+) cases, (\d+) passed, (\d+) justified differences$/.exec(line);
  if (found === null) return undefined;
  const [cases, passed, justified] = found.slice(2).map(Number) as [number, number, number];
  return { subject: found[1]!, cases, passed, justified };
}

function answerOf(got: unknown): unknown {
  if (typeof got !== "function") return got;
  try {
    return got();
  } catch (error) {
    return new Error("it threw", { cause: error });
  }
}

function sharedData(files: readonly string[]): SharedData {
  const path = (file: string) => {
    const declared = files.some((one) => file === one || file.startsWith(`${one}/`));
    assert.ok(declared, `${file} is not among the subject's files`);
    return join(SHARED_DATA, file);
  };
  const bytes = (file: string) => readFileSync(path(file));
  return { path, bytes, json: (file) => JSON.parse(bytes(file).toString()) };
}

const SHOWN_CHARS_MAX = 300;

function shown(value: unknown): string {
  const text = value instanceof Error ? `${value.message}: ${value.cause}` : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}
