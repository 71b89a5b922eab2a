// How do our lines reach the runner's log? Over a call of their own, from a bounded buffer: whoever logs never waits (beam_fn_api.proto, BeamFnLogging).
import type { Clock } from "../../ports/clock.ts";
import { type Log, type LogLevel, logLevels } from "../../ports/log.ts";
import { Fifo } from "../embedded/fifo.ts";
import { fnApi, fnCalls, type LogEntry } from "../fn-sdk.ts";
import { openStream, type Stream } from "./stream.ts";

/** Lines that wait; further ones are dropped and counted. */
const LINES_MAX = 1000;
/** Of them those that only inform: the rest of the room is for what went wrong. */
const INFORMING_LINES_MAX = 500;
/** Of a line; the rest of it is cut off. */
const LINE_CHARS_MAX = 8192;
/** Of one message. */
const LINES_A_MESSAGE = 100;
/** A runner's log that has gone is tried again so late. */
const REOPEN_MS = 5000;

export interface LogPlane {
  log: Log;
  /** Lines that nobody will read. */
  readonly dropped: number;
  readonly waiting: number;
  /** What waits is sent, where it can be. */
  close(): Promise<void>;
}

export interface LogPlaneOptions {
  endpoint: string;
  workerId: string;
  clock: Clock;
}

export function openLogPlane({ endpoint, workerId, clock }: LogPlaneOptions): LogPlane {
  const lines = new Fifo<LogEntry>();
  let dropped = 0;
  let closed = false;
  let stream: Stream<LogEntry[]> | undefined = open();
  let callOff: () => void = () => undefined;

  function open(): Stream<LogEntry[]> {
    return openStream({
      ...{ endpoint, workerId, clock, call: fnCalls.logging },
      encode: (logEntries: LogEntry[]) => fnApi.LogEntry_List.toBinary({ logEntries }),
      decode: () => undefined,
      onMessage: () => undefined,
      onEnd() {
        stream = undefined;
        if (closed) return;
        callOff = clock.after(REOPEN_MS, () => {
          stream = open();
          flush();
        });
      },
    });
  }

  function flush(): void {
    while (stream !== undefined && lines.length > 0) {
      const room = stream.drained();
      if (room !== undefined) return void room.then(flush);
      stream.send(lines.take(LINES_A_MESSAGE));
    }
  }

  return {
    log(level, message, fields) {
      if (closed || lines.length >= (grave(level) ? LINES_MAX : INFORMING_LINES_MAX)) {
        dropped++;
        return;
      }
      lines.push(entry(clock.now(), level, spelled(message, fields)));
      flush();
    },
    get dropped() {
      return dropped;
    },
    get waiting() {
      return lines.length;
    },
    async close() {
      closed = true;
      callOff();
      await stream?.close();
    },
  };
}

/** Whoever logs tells both; the plane is told of errors and warnings in any case, of other lines up to `least`. */
export function teed(log: Log, plane: LogPlane, least: LogLevel): Log {
  const told = new Set(logLevels.filter((level, index) => grave(level) || index <= logLevels.indexOf(least)));
  return (level, message, fields) => {
    log(level, message, fields);
    if (told.has(level)) plane.log(level, message, fields);
  };
}

function grave(level: LogLevel): boolean {
  return level === "error" || level === "warn";
}

const SEVERITY: Readonly<Record<LogLevel, LogEntry["severity"]>> = {
  debug: fnApi.LogEntry_Severity_Enum.DEBUG,
  info: fnApi.LogEntry_Severity_Enum.INFO,
  warn: fnApi.LogEntry_Severity_Enum.WARN,
  error: fnApi.LogEntry_Severity_Enum.ERROR,
};

function entry(now: number, level: LogLevel, message: string): LogEntry {
  const timestamp = { seconds: BigInt(Math.floor(now / 1000)), nanos: (now % 1000) * 1e6 };
  return fnApi.LogEntry.create({ severity: SEVERITY[level], timestamp, message: message.slice(0, LINE_CHARS_MAX) });
}

/** The fields as JSON behind the message; an error by what it says. */
function spelled(message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  if (Object.keys(fields).length === 0) return message;
  try {
    return `${message} ${JSON.stringify(fields, (_name, value) => (value instanceof Error ? value.stack : value))}`;
  } catch {
    return message;
  }
}
