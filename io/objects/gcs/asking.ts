// How is one call of Cloud Storage carried out? In time, made again while that may help, and failing with a StoreError that tells what to do.
import { type Asked, faultOf, storeErrorOf } from "./faults.ts";
import { inTime, type Patience, patiently } from "./patience.ts";

/** `bytes`: how many the call moves. Rejects with StoreError. */
export async function asking<T>(patience: Patience, asked: Asked, attempt: () => Promise<T>, bytes = 0): Promise<T> {
  try {
    return await patiently(patience, () => inTime(patience.clock, bytes, attempt()));
  } catch (error) {
    const kind = faultOf(error);
    throw storeErrorOf(error, asked, kind === "absent" && asked.object === undefined ? "bucket" : kind);
  }
}

/** Undefined where the failure is that there is no such object. */
export async function unlessAbsent<T>(
  patience: Patience,
  asked: Asked,
  attempt: () => Promise<T>,
  bytes?: number,
): Promise<T | undefined> {
  const run = async () => {
    try {
      return await attempt();
    } catch (error) {
      if (faultOf(error) === "absent") return undefined;
      throw error;
    }
  };
  return asking(patience, asked, run, bytes);
}
