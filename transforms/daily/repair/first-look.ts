// What was found in a range before anything of it was mended? Noted first, so that whoever goes on after a death in the middle reports the same.
import type { DayFiles } from "../../../ports/day-files.ts";
import { tableFolder } from "../../../schemas/daily/day-table.ts";
import { repairReport } from "../../../schemas/daily/repair.ts";
import { jsonFile } from "../json-file.ts";
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
  const name = `${tableFolder(day, repairReport)}/looked-${part}.json`;
  const earlier = await jsonFile(files, name);
  if (earlier !== undefined) return Findings.of(earlier as ReturnType<Findings["entries"]>);
  const found = (await look()).entries();
  if (found.length > 0) await files.writeLines(name, [JSON.stringify(found)]);
  return undefined;
}
