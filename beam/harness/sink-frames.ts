// How do elements leave a bundle? In frames of a named size, the last one empty and marked.
import type { DataPlane } from "./data-plane.ts";
import type { Frame } from "./messages.ts";
import type { Port } from "./stage-plan.ts";
import type { Header } from "./windowed.ts";
import { WireWriter } from "./wire-bytes.ts";

/** A frame is sent when it has so many bytes; a larger element has a frame of its own. Under gRPC's usual 4 MiB a message. */
export const FRAME_BYTES_MAX = 1024 * 1024;

export class SinkFrames {
  readonly #plane: DataPlane;
  readonly #instruction: string;
  readonly #port: Port;
  readonly #writer = new WireWriter();

  constructor(plane: DataPlane, instruction: string, port: Port) {
    this.#plane = plane;
    this.#instruction = instruction;
    this.#port = port;
  }

  add(header: Header, value: unknown): void {
    this.#writer.raw(header);
    this.#port.coder.write(this.#writer, value);
    if (this.#writer.length >= FRAME_BYTES_MAX) this.#plane.send([this.#frame(false)]);
  }

  /** Undefined where there is room to send, else what to await. */
  drained(): Promise<void> | undefined {
    return this.#plane.drained();
  }

  /** What is left, and the end: as a frame of its own, since some runners do not look into the last one. */
  finish(): void {
    const rest = this.#writer.length > 0 ? [this.#frame(false)] : [];
    this.#plane.send([...rest, this.#frame(true)]);
  }

  #frame(last: boolean): Frame {
    return { instruction: this.#instruction, transform: this.#port.id, family: undefined, bytes: this.#writer.take(), last };
  }
}
