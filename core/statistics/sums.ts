// How do many numbers become a few that can be added up in any order and parts? Sums by name, and times in bins of a fixed number.

/** Sums by name. A name that is absent counts nothing. */
export type Sums<Name extends string> = Record<Name, number>;

export function noSums<Name extends string>(names: readonly Name[]): Sums<Name> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Sums<Name>;
}

/** Changes `into` and returns it. */
export function addSums<Name extends string>(into: Sums<Name>, other: Partial<Sums<Name>>): Sums<Name> {
  for (const [name, value] of Object.entries(other) as [Name, number][]) into[name] += value;
  return into;
}

/** How many times lie in each bin; as far as the highest that has any. */
export type TimeBins = number[];

const BINS_PER_OCTAVE = 4; // a bin ends 19 % above its beginning
const BINS = 80; // up to 2^20 ms, seventeen minutes: longer than any request

/** Changes `into` and returns it. `ms`: at least 0. */
export function addTime(into: TimeBins, ms: number): TimeBins {
  return addTo(into, Math.min(BINS - 1, Math.floor(Math.log2(ms + 1) * BINS_PER_OCTAVE)), 1);
}

/** Changes `into` and returns it. */
export function addTimes(into: TimeBins, other: TimeBins): TimeBins {
  for (const [bin, count] of other.entries()) addTo(into, bin, count);
  return into;
}

function addTo(into: TimeBins, bin: number, count: number): TimeBins {
  while (into.length <= bin) into.push(0);
  into[bin]! += count;
  return into;
}

/** The least time that a `share` (0 to 1) of all does not exceed, to the end of its bin; undefined where there are none. */
export function timeBelow(bins: TimeBins, share: number): number | undefined {
  const all = bins.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let left = Math.ceil(all * share);
  let bin = 0;
  while (left > bins[bin]!) left -= bins[bin++]!;
  return Math.round(2 ** ((bin + 1) / BINS_PER_OCTAVE) - 1);
}
