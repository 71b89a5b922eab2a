// How do elements and timers come and go? In frames over one call an endpoint, held up at both ends before memory fills (beam_fn_api.proto, BeamFnData).
import { fnCalls } from "../fn-sdk.ts";
import type { Inboxes } from "./inboxes.ts";
import { decodeElements, encodeElements, type Frame } from "./messages.ts";
import { openStream, type Stream, type StreamOptions } from "./stream.ts";

/** What may wait in the inboxes of one plane before it is read no further. */
const INBOUND_BYTES_MAX = 32 * 1024 * 1024;
/** It is read on when so much is left. */
const INBOUND_BYTES_RESUME = INBOUND_BYTES_MAX / 2;
/** What a frame costs beside its bytes. */
const FRAME_BYTES = 256;

export interface DataPlane {
  /** One message. */
  send(frames: readonly Frame[]): void;
  drained(): Promise<void> | undefined;
  /** Bytes that wait in inboxes. */
  waiting(): number;
  close(): Promise<void>;
}

export type PlaneOptions = Pick<StreamOptions<never, never>, "endpoint" | "workerId" | "clock" | "onEnd">;

export function openDataPlane(options: PlaneOptions & { inboxes: Inboxes }): DataPlane {
  const { inboxes, ...plane } = options;
  let waiting = 0;
  let paused = false;

  function arrived(frames: Frame[]): void {
    for (const frame of frames) {
      const size = frame.bytes.length + FRAME_BYTES;
      waiting += size;
      inboxes.put(frame, () => taken(size));
    }
    if (paused || waiting <= INBOUND_BYTES_MAX) return;
    paused = true;
    stream.pause();
  }

  function taken(size: number): void {
    waiting -= size;
    if (!paused || waiting > INBOUND_BYTES_RESUME) return;
    paused = false;
    stream.resume();
  }

  const stream: Stream<readonly Frame[]> = openStream({
    ...plane,
    call: fnCalls.data,
    encode: encodeElements,
    decode: decodeElements,
    onMessage: arrived,
  });
  return { send: stream.send, drained: stream.drained, waiting: () => waiting, close: stream.close };
}
