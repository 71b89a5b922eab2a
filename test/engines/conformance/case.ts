// What must every engine do alike? One small pipeline and the lines that its DoFns tell; the same for embedded, Prism and Flink.
import type { AnyDefinition } from "../../../beam/pardo.ts";
import type { PipelineBuilder } from "../../../beam/pipeline.ts";
import { batches, keyedWord, keyedWords } from "../../beam/lib.ts";

/** Called in the worker, which is this process. */
export type Tell = (line: string) => void;

export interface Pipeline {
  /** Their names are no other case's. */
  definitions: AnyDefinition[];
  build(p: PipelineBuilder): void;
}

export interface Case {
  /** What the pipeline does, as a test's name tells it. */
  readonly name: string;
  /** What is told in the end, in any order. */
  readonly expected: readonly string[];
  /** A bundle fails once: where it is tried again, lines may come twice. */
  readonly failsWith?: string;
  make(tell: Tell): Pipeline;
}

/** Long enough for a bundle of its own: an engine may count in whole seconds. */
const WAVE_MS = 1000;

/** One wave of words a poll, a second apart; then nothing more. */
export function waves(
  name: string,
  given: readonly (readonly [key: string, word: string][])[],
  watermarks?: readonly number[],
) {
  return batches(
    name,
    keyedWord,
    given.map((pairs, index) => ({
      ...{ values: keyedWords(...pairs), waitMs: WAVE_MS },
      ...(watermarks !== undefined && { watermark: watermarks[index]! }),
    })),
  );
}

export const KEYS = ["a", "b", "c"] as const;

/** Each key with each of these words. */
export function forKeys(...words: string[]): [key: string, word: string][] {
  return KEYS.flatMap((key) => words.map((word): [string, string] => [key, word]));
}
