// Would this value survive another runner? There it becomes bytes and comes back; here only where tests ask for it.
import { isDeepStrictEqual } from "node:util";
import type { AnyCodec } from "../../schemas/codec.ts";
import { fromWire, toWire } from "../coders.ts";

/** The value as it comes back from bytes. Throws where it is not of the codec, or comes back as something else. */
export function crossed(codec: AnyCodec, value: unknown): unknown {
  const fault = codec.fault(value, "");
  if (fault !== undefined) throw new Error(`not of its codec: ${fault}`);
  const back = fromWire(codec, toWire(codec, value));
  if (!isDeepStrictEqual(back, value)) throw new Error("its codec gives back something else than it was given");
  return back;
}
