// What was found in a range before anything of it was mended? Noted first, so that whoever goes on after a death in the middle reports the same.
import type { DayFiles } from "../../../ports/day-files.ts";
import { tableFolder } from "../../../schemas/daily/day-table.ts";
import { repairReport } from "../../../schemas/daily/repair.ts";
import { Findings } from "./findings.ts";

interface LookedAt {
  day: string;
  /** Of the keys. */
  part: string;
}

/**
 * Of an earlier try; undefined where this one is the first, or the earlier one found nothing: then what this one finds by its own look is noted.
 * The report's closing removes the notes.
 */
export async function firstLook(
  files: DayFiles,
  { day, part }: LookedAt,
  look: () => Promise<Findings>,
): Promise<Findings | undefined> {
  const folder = tableFolder(day, repairReport);
  const name = `${folder}/looked-${part}.json`;
  if ((await files.measure(name)) !== undefined)
    for await (const [line] of files.lines(name)) return Findings.of(JSON.parse(line ?? "[]"));
  const found = (await look()).entries();
  if (found.length > 0) await files.writeLines(name, [JSON.stringify(found)]);
  return undefined;
}
