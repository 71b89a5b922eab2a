// What does a small file of the day say, if there is one? Its first line, as JSON; a folder of many is not listed for it.
import type { DayFiles } from "../../ports/day-files.ts";

/** Undefined where there is none; null where it is empty. Rejects with StoreError, or SyntaxError where it is no JSON. */
export async function jsonFile(files: DayFiles, name: string): Promise<unknown> {
  if ((await files.digest(name)) === undefined) return undefined;
  for await (const [line] of files.lines(name)) return JSON.parse(line ?? "null");
  return null;
}
