// May this message be queued? What every queue refuses alike.
import { StoreError } from "../../ports/versioned-table.ts";

/** A copy that its sender can no longer change. Throws StoreError (not final) where it is not bytes. */
export function checkedBody(body: Uint8Array): Uint8Array {
  if (!(body instanceof Uint8Array)) throw new StoreError("the body of a message is not bytes");
  return new Uint8Array(body);
}
