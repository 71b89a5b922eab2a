// What of any value is printed in a log? A JSON value of bounded size, whatever the value is.

const STRING_CHARS = 2000; // longer ones are cut: a URL fits, a body does not
const ITEMS = 50; // of a list or record
const DEPTH = 5; // records within records; also ends circles
const VALUES = 500; // in all

/** Values that may still be printed. */
interface Budget {
  left: number;
}

/** Never throws. Errors give name, message and cause; bytes their number; what has no JSON form its text. */
export function plain(value: unknown): unknown {
  return plainAt(value, 0, { left: VALUES });
}

function plainAt(value: unknown, depth: number, budget: Budget): unknown {
  if (budget.left-- <= 0 || depth > DEPTH) return "[more]";
  try {
    return plainOf(value, (inner) => plainAt(inner, depth + 1, budget));
  } catch {
    return "[unreadable]"; // a getter or proxy that throws
  }
}

function plainOf(value: unknown, inner: (value: unknown) => unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null || value === undefined) return value;
  if (typeof value !== "object") return cut(String(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, ITEMS).map((item) => inner(item) ?? null);
  if (value instanceof Map || value instanceof Set) return inner([...value]);
  if (value instanceof Error) return plainError(value, inner);
  const names = Object.keys(value).slice(0, ITEMS);
  return Object.fromEntries(names.map((name) => [cut(name), field(value as Record<string, unknown>, name, inner)]));
}

function plainError(error: Error, inner: (value: unknown) => unknown): Record<string, unknown> {
  const told: Record<string, unknown> = { name: cut(error.name), message: cut(error.message) };
  if (error.cause !== undefined) told.cause = inner(error.cause);
  return told;
}

/** One field that cannot be read leaves the others. */
function field(record: Record<string, unknown>, name: string, inner: (value: unknown) => unknown): unknown {
  try {
    return inner(record[name]);
  } catch {
    return "[unreadable]";
  }
}

function cut(text: string): string {
  return text.length <= STRING_CHARS ? text : `${text.slice(0, STRING_CHARS)}…`;
}
