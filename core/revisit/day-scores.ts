// Which pages are visited on a day that has room for so many? Those from a score on, found in a histogram, whatever their number.

/**
 * The scores of a host's pages, or of many hosts', on one day. It has a fixed size and is merged in any order and parts: five billion pages
 * need no sorting. Scores of one bin lie within a sixteenth of an octave, 4.4 %, of each other.
 */
export interface DayScores {
  /** Visits that the pages want, in thousandths a day: a page that wants one in 7 days counts 143. */
  wanted: number;
  /** Pages by the bin of their score, as far as the highest; at most BINS. */
  counts: number[];
}

/** From which score on pages are visited: all of the bins above `bin`, and of its own the share whose spread (0 to 1) lies below `share`. */
export interface ScoreThreshold {
  bin: number;
  share: number;
}

/** Everything passes. */
export const noThreshold: ScoreThreshold = { bin: 0, share: 1 };

const BINS_PER_OCTAVE = 16;
const OCTAVE_MIN = -24; // scores below 2^-24 days of freshness count as this, those from 2^16 on as the highest
const OCTAVE_MAX = 16;
export const scoreBins = (OCTAVE_MAX - OCTAVE_MIN) * BINS_PER_OCTAVE;

const DAY_MS = 86_400_000;
const THOUSANDTHS = 1000;

export function emptyScores(): DayScores {
  return { wanted: 0, counts: [] };
}

/** Changes `into` and returns it. `wantedMs`: the interval that the page wants (nextInterval). */
export function addScore(into: DayScores, score: number, wantedMs: number): DayScores {
  addTo(into.counts, binOf(score), 1);
  into.wanted += Math.round((THOUSANDTHS * DAY_MS) / wantedMs);
  return into;
}

/** Changes `into` and returns it. */
export function mergeScores(into: DayScores, other: DayScores): DayScores {
  other.counts.forEach((count, bin) => {
    addTo(into.counts, bin, count);
  });
  into.wanted += other.wanted;
  return into;
}

function addTo(counts: number[], bin: number, count: number): void {
  while (counts.length <= bin) counts.push(0);
  counts[bin]! += count;
}

/** Whether the pages want more visits than `visits` a day. Where they do not, each is visited when it wants to be. */
export function wantMore({ wanted }: DayScores, visits: number): boolean {
  return wanted > visits * THOUSANDTHS;
}

/** The threshold which so many pages pass, those with the highest scores. */
export function thresholdFor({ counts }: DayScores, visits: number): ScoreThreshold {
  let left = Math.max(0, visits);
  for (let bin = counts.length - 1; bin >= 0; bin--) {
    const count = counts[bin]!;
    if (count > left) return { bin, share: left / count };
    left -= count;
  }
  return noThreshold;
}

/** What is left of a host's scores for a budget over all hosts: pages that pass, and no more wishes than the host grants. */
export function scoresWithin({ wanted, counts }: DayScores, threshold: ScoreThreshold, visits: number): DayScores {
  const { bin: lowest, share } = threshold;
  return {
    wanted: Math.min(wanted, Math.floor(visits * THOUSANDTHS)),
    counts: counts.map((count, bin) => (bin < lowest ? 0 : bin === lowest ? Math.round(count * share) : count)),
  };
}

export function higherThreshold(one: ScoreThreshold, other: ScoreThreshold): ScoreThreshold {
  if (one.bin !== other.bin) return one.bin > other.bin ? one : other;
  return one.share < other.share ? one : other;
}

/** `spread`: from 0 to 1, evenly over the pages, drawn anew each day (spreadOf). */
export function passes(score: number, { bin, share }: ScoreThreshold, spread: number): boolean {
  const own = binOf(score);
  return own > bin || (own === bin && spread < share);
}

/** The lowest score of a threshold's bin. */
export function scoreAt({ bin }: ScoreThreshold): number {
  return 2 ** (OCTAVE_MIN + bin / BINS_PER_OCTAVE);
}

function binOf(score: number): number {
  const bin = Math.floor((Math.log2(score) - OCTAVE_MIN) * BINS_PER_OCTAVE);
  return Math.min(scoreBins - 1, Math.max(0, bin));
}
