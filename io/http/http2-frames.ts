// Which frames stand in these bytes? RFC 9113 4.1, of each only its head and the first bytes of its content.

export interface Frame {
  type: number;
  flags: number;
  stream: number;
  /** Of its content. */
  bytes: number;
  /** The first eight bytes of its content, or all of a shorter one. Good until the next frame. */
  lead: Buffer;
}

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  goaway: 7,
  continuation: 9,
} as const;

export const frameFlags = { endStream: 0x1, acknowledged: 0x1, padded: 0x8 } as const;

/** RFC 9113 7: the errors that we tell apart. */
export const errorCodes = { noError: 0x0, enhanceYourCalm: 0xb, http11Required: 0xd } as const;

/** What an error code is called. */
export function errorName(code: number): string {
  return errorNames[code] ?? `error ${code}`;
}

/**
 * Reads chunk after chunk, the first `skip` bytes unseen, and tells each frame as soon as its lead has come. Gives how many bytes of the
 * chunk may be passed on: all, or those before the frame to which `onFrame` says false.
 */
export function frameReader(skip: number, onFrame: (frame: Frame) => boolean): (chunk: Buffer) => number {
  const held = Buffer.alloc(HEAD_BYTES + LEAD_BYTES);
  let have = 0;
  let unseen = skip;
  return (chunk) => {
    let begin = 0;
    for (let at = 0; at < chunk.length; ) {
      if (unseen > 0) {
        const step = Math.min(unseen, chunk.length - at);
        unseen -= step;
        at += step;
        continue;
      }
      if (have === 0) begin = at;
      const lead = have < HEAD_BYTES ? 0 : Math.min(LEAD_BYTES, held.readUIntBE(0, 3));
      const copied = chunk.copy(held, have, at, at + HEAD_BYTES + lead - have);
      have += copied;
      at += copied;
      if (have < HEAD_BYTES) break;
      const frame = frameOf(held);
      if (have < HEAD_BYTES + frame.lead.length) continue;
      have = 0;
      unseen = frame.bytes - frame.lead.length;
      if (!onFrame(frame)) return begin;
    }
    return chunk.length;
  };
}

const HEAD_BYTES = 9;
const LEAD_BYTES = 8; // a GOAWAY's last stream and its error code

function frameOf(held: Buffer): Frame {
  const bytes = held.readUIntBE(0, 3);
  return {
    bytes,
    type: held[3]!,
    flags: held[4]!,
    stream: held.readUInt32BE(5) & 0x7fffffff,
    lead: held.subarray(HEAD_BYTES, HEAD_BYTES + Math.min(LEAD_BYTES, bytes)),
  };
}

const errorNames = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];
