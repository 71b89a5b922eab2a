// How are the values of a measure spread? A histogram whose buckets are a sixteenth of their power of two wide.

export interface Distribution {
  readonly count: number;
  readonly sum: number;
  /** 0 where nothing was added, as for all that follows. */
  readonly min: number;
  readonly max: number;
  /** The value below which the share `q` (0 to 1) of all values lies, within 1/32 of itself. */
  quantile(q: number): number;
}

// The upper 16 bits of a positive double: 11 of exponent, 4 of fraction after the sign. Their order is that of the numbers.
const BUCKET_SHIFT = 16;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0; // by byte order

/** At most 32,768 buckets, of which a measure uses some hundred. What is below 0 counts as 0; what is no number is not counted. */
export function distribution(): Distribution & { add(value: number): void } {
  const buckets = new Map<number, number>();
  let count = 0;
  let sum = 0;
  let min = 0;
  let max = 0;
  return {
    add(value) {
      if (!Number.isFinite(value)) return;
      const counted = Math.max(value, 0);
      min = count === 0 ? counted : Math.min(min, counted);
      max = Math.max(max, counted);
      count++;
      sum += counted;
      const bucket = bucketOf(counted);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    get min() {
      return min;
    },
    get max() {
      return max;
    },
    quantile(q) {
      let left = Math.max(1, Math.ceil(q * count));
      for (const [bucket, held] of [...buckets].sort(([a], [b]) => a - b)) {
        left -= held;
        if (left <= 0) return Math.min(max, Math.max(min, middleOf(bucket)));
      }
      return max;
    },
  };
}

function bucketOf(value: number): number {
  double[0] = value;
  return words[HIGH_WORD]! >>> BUCKET_SHIFT;
}

function middleOf(bucket: number): number {
  return (edgeOf(bucket) + edgeOf(bucket + 1)) / 2;
}

function edgeOf(bucket: number): number {
  words[1 - HIGH_WORD] = 0;
  words[HIGH_WORD] = bucket << BUCKET_SHIFT;
  return double[0]!;
}
