// What would the daily pipeline do? All is read and judged as ever; what would be written is counted and goes nowhere.
import type { DayFiles } from "../../ports/day-files.ts";
import { dryTables } from "../../transforms/daily/dry-tables.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";

/** `would` is told of each file that would stand. Nothing is composed. */
export function dryStores<S extends Pick<DailyServices, "files" | "tables" | "compactHour">>(
  { compactHour: _, ...stores }: S,
  would: (name: string, rows: number) => void,
) {
  return { ...stores, files: dryFiles(stores.files, would), tables: dryTables(stores.tables) };
}

/** Lines are counted; bytes and digests are not known. */
function dryFiles(files: DayFiles, would: (name: string, rows: number) => void): DayFiles {
  return {
    ...files,
    async writeLines(name, lines) {
      let rows = 0;
      for await (const _ of lines) rows++;
      would(name, rows);
      return { name, rows, bytes: 0, sha256: "" };
    },
    remove: async () => {},
  };
}
