// Rows as the suites of tables write them.
import type { Row } from "../../ports/versioned-table.ts";

export function row(key: string, rev = "1", value = "value"): Row {
  return { key, rev, value: Uint8Array.from(Buffer.from(value)) };
}
