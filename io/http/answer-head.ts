// Where does the answer begin? RFC 9110 15.2: interim (1xx) answers before it are dropped here, for undici takes a 100 for a fault.

export interface AnswerHead {
  /** What the parser is to have of this chunk. */
  pass(chunk: Buffer): Buffer;
}

export interface AnswerHeadEvents {
  /** The first byte of the answer that is not interim; its version as the status line names it. */
  onStart(version: "1.0" | "1.1"): void;
  /** The interim answers are larger than the limit. */
  onOverflow(): void;
}

export function answerHead(headerBytes: number, events: AnswerHeadEvents): AnswerHead {
  let held: Buffer = nothing; // the start of a status line, or of the end of an interim answer
  let interimBytes = 0;
  let interim = false;
  let started = false;

  function start(data: Buffer): Buffer {
    started = true;
    events.onStart(data.subarray(0, 8).toString("latin1") === "HTTP/1.0" ? "1.0" : "1.1");
    return data;
  }
  function hold(data: Buffer): Buffer {
    held = data;
    if (interimBytes + held.length > headerBytes) events.onOverflow();
    return nothing;
  }
  return {
    pass(chunk) {
      if (started) return chunk;
      let data = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
      held = nothing;
      for (;;) {
        if (interim) {
          const end = data.indexOf("\r\n\r\n");
          const dropped = end < 0 ? Math.max(0, data.length - 3) : end + 4;
          interimBytes += dropped;
          data = data.subarray(dropped);
          if (end < 0) return hold(data);
          interim = false;
        }
        const line = data.subarray(0, STATUS_CHARS).toString("latin1");
        if (line.length < STATUS_CHARS && maybeInterim(line)) return hold(data);
        if (!/^HTTP\/1\.[01] 1\d\d$/.test(line) || line.endsWith("101")) return start(data);
        interim = true;
      }
    },
  };
}

const nothing = Buffer.alloc(0);
const STATUS_CHARS = 12; // HTTP/1.1 200

function maybeInterim(line: string): boolean {
  return "HTTP/1.1 1".startsWith(line.slice(0, 10)) || "HTTP/1.0 1".startsWith(line.slice(0, 10));
}
