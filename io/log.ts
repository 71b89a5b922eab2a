// How is a log line written? As one JSON object, or as text for a terminal; neither lets a hostile string move the cursor or forge a line.
import type { Clock } from "../ports/clock.ts";
import { type Log, type LogLevel, logLevels } from "../ports/log.ts";
import { systemClock } from "./clock.ts";
import { plain } from "./plain.ts";

interface Line {
  /** ISO 8601, UTC. */
  time: string;
  level: LogLevel;
  message: string;
  /** Safe to print as JSON. */
  fields: [name: string, value: unknown][];
}

/** `write` is given one object without the line's end: time, level, message, then the fields. Lines beyond `level` are not written. */
export function jsonLog(write: (line: string) => void, level: LogLevel, clock: Clock = systemClock()): Log {
  return log(level, clock, ({ time, level, message, fields }) => {
    // A field of the same name must not hide what the line itself says.
    const named = fields.map(([name, value]) => [reserved.has(name) ? `field_${name}` : name, value]);
    write(escaped(JSON.stringify({ time, level, message, ...Object.fromEntries(named) })));
  });
}

/** `write` is given one line without its end: `12:34:56 warn  message name=value`, the time in UTC. */
export function textLog(write: (line: string) => void, level: LogLevel, clock: Clock = systemClock()): Log {
  return log(level, clock, ({ time, level, message, fields }) => {
    const head = `${time.slice(CLOCK_FROM, CLOCK_TO)} ${level.padEnd(LEVEL_CHARS)} ${unquoted(message)}`;
    write([head, ...fields.map(([name, value]) => `${bare(name)}=${bare(value)}`)].join(" "));
  });
}

const reserved: ReadonlySet<string> = new Set(["time", "level", "message"]);
const CLOCK_FROM = "2000-01-01T".length;
const CLOCK_TO = CLOCK_FROM + "12:34:56".length;
const LEVEL_CHARS = Math.max(...logLevels.map((level) => level.length));

function log(least: LogLevel, clock: Clock, write: (line: Line) => void): Log {
  const shown = new Set(logLevels.slice(0, logLevels.indexOf(least) + 1));
  return (level, message, fields = {}) => {
    if (!shown.has(level)) return;
    const time = new Date(clock.now()).toISOString();
    const told = Object.entries(plain(fields) as Record<string, unknown>).filter(([, value]) => value !== undefined);
    write({ time, level, message: String(plain(message)), fields: told });
  };
}

/** A text without blanks, quotes and = as it is, all else as JSON. */
function bare(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return unquoted(value);
  return escaped(JSON.stringify(value));
}

/** As within the quotes of JSON, with the quotes themselves left as they are. */
function unquoted(text: string): string {
  return escaped(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\"));
}

/**
 * JSON.stringify escapes the controls below U+0020 and lone surrogates. Here go the rest: DEL and the C1 controls, which terminals obey,
 * line and paragraph separators, and the marks that turn the direction of text or have no width.
 */
function escaped(json: string): string {
  return json.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const UNSAFE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
