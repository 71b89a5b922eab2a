// How is a key's state asked of the runner? By requests that are answered by id, many under way at once (beam_fn_api.proto, BeamFnState).
import { fnCalls } from "../fn-sdk.ts";
import type { PlaneOptions } from "./data-plane.ts";
import {
  decodeStateResponse,
  encodeStateRequest,
  type KeptKey,
  type StateKey,
  type StateRequest,
  type StateResponse,
} from "./messages.ts";
import { openStream } from "./stream.ts";

/** Requests under way at a time, over all bundles: enough to fill a millisecond's way to the runner, few enough for its memory. */
const REQUESTS_MAX = 4096;

const NOTHING = new Uint8Array();

interface Waiting {
  instruction: string;
  resolve: (response: StateResponse) => void;
  reject: (error: Error) => void;
}

export interface StatePlane {
  /** All the bytes of a bag, in one piece. Rejects where the runner or the plane fails. */
  get(instruction: string, key: StateKey): Promise<Uint8Array>;
  /** Each asked for when the one before has been taken. */
  pages(instruction: string, key: KeptKey): AsyncIterable<Buffer>;
  append(instruction: string, key: StateKey, bytes: Uint8Array): Promise<void>;
  clear(instruction: string, key: StateKey): Promise<void>;
  /** Undefined where another request may be sent, else what to await before. */
  room(): Promise<void> | undefined;
  /** The instruction has failed: its requests reject, and its answers are not waited for; some runners never give them. */
  forget(instruction: string, error: Error): void;
  readonly waiting: number;
  /** Ever sent. */
  readonly requests: number;
  close(): Promise<void>;
}

/** `answerDelayMs`: each answer is held back so long. */
export function openStatePlane({ answerDelayMs, ...options }: PlaneOptions & { answerDelayMs: number }): StatePlane {
  const waiting = new Map<string, Waiting>();
  let requests = 0;
  let gone: Error | undefined;
  let room: PromiseWithResolvers<void> | undefined;

  const stream = openStream({
    ...options,
    call: fnCalls.state,
    encode: encodeStateRequest,
    decode: decodeStateResponse,
    onMessage(response) {
      if (answerDelayMs === 0) answered(response);
      else options.clock.after(answerDelayMs, () => answered(response));
    },
    onEnd(error) {
      gone = error ?? new Error("the runner has ended the state plane");
      for (const [id, request] of waiting) {
        settled(id);
        request.reject(gone);
      }
      options.onEnd(error);
    },
  });

  function answered(response: StateResponse): void {
    const request = waiting.get(response.id);
    if (request === undefined) return;
    settled(response.id);
    if (response.error !== "") request.reject(new Error(`the runner refused a state request: ${response.error}`));
    else request.resolve(response);
  }

  function settled(id: string): void {
    waiting.delete(id);
    if (waiting.size >= REQUESTS_MAX) return;
    room?.resolve();
    room = undefined;
  }

  function send(
    instruction: string,
    key: StateKey | KeptKey,
    kind: StateRequest["kind"],
    bytes: Uint8Array = NOTHING,
  ): Promise<StateResponse> {
    if (gone !== undefined) return Promise.reject(gone);
    const id = (requests++).toString(36);
    return new Promise((resolve, reject) => {
      waiting.set(id, { instruction, resolve, reject });
      stream.send({ id, instruction, key, kind, bytes });
    });
  }

  async function* pages(instruction: string, key: KeptKey): AsyncGenerator<Buffer> {
    for (let token: Uint8Array = NOTHING; ; ) {
      const { data, continuation } = await send(instruction, key, "get", token);
      yield Buffer.from(data.buffer, data.byteOffset, data.length);
      if (continuation.length === 0) return;
      token = continuation;
    }
  }

  async function get(instruction: string, key: StateKey): Promise<Uint8Array> {
    const first = await send(instruction, key, "get");
    if (first.continuation.length === 0) return first.data;
    const parts = [first.data];
    for (let token = first.continuation; token.length > 0; ) {
      const next = await send(instruction, key, "get", token);
      parts.push(next.data);
      token = next.continuation;
    }
    return Buffer.concat(parts);
  }

  return {
    get,
    pages,
    append: async (instruction, key, bytes) => void (await send(instruction, key, "append", bytes)),
    clear: async (instruction, key) => void (await send(instruction, key, "clear")),
    room() {
      if (waiting.size < REQUESTS_MAX) return undefined;
      room ??= Promise.withResolvers();
      return room.promise;
    },
    forget(instruction, error) {
      for (const [id, request] of waiting)
        if (request.instruction === instruction) {
          settled(id);
          request.reject(error);
        }
    },
    get waiting() {
      return waiting.size;
    },
    get requests() {
      return requests;
    },
    close: stream.close,
  };
}
