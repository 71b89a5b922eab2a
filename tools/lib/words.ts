// How are times, counts and rows put for people?

const UNITS: readonly [name: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** The two largest units: "6 d 23 h", "2 min 5 s", "350 ms". */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const first = UNITS.findIndex(([, unit]) => whole >= unit);
  if (first < 0) return `${whole} ms`;
  if (first === UNITS.length - 1) return `${Math.round(whole / 100) / 10} s`;
  let rest = whole;
  const parts = UNITS.slice(first, first + 2).map(([name, unit]) => {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    return `${count} ${name}`;
  });
  return parts.filter((part) => !part.startsWith("0 ")).join(" ");
}

/** "2026-05-01T10:00:00.000Z, in 6 d 23 h", or "…, 2 min 5 s ago". */
export function when(at: number, now: number): string {
  return `${iso(at)}, ${at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`}`;
}

/** Times beyond what Date can hold come from no record of ours; they are shown as the number. */
function iso(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}

const NAME_COLUMNS = 16;

export function row(name: string, value: string): string {
  return `  ${name.padEnd(NAME_COLUMNS)}${value}`;
}

/** The name stands before the first line only; none where there is no line. */
export function rows(name: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => row(index === 0 ? name : "", line));
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** What a server sent, on a terminal: no control characters, and not too long. */
export function shown(text: string, charsMax = 200): string {
  const plain = text.replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  return plain.length > charsMax ? `${plain.slice(0, charsMax)}…` : plain;
}
