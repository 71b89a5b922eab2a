// How is a table closed that came to no rows at all? A part without any is told of it at the start.
import { type Start, start } from "../../beam/coders.ts";
import type { DoFnDefinition } from "../../beam/dofn.ts";
import type { AnyDayTable } from "../../schemas/daily/day-table.ts";
import { noPart, tableParts } from "./close-table.ts";

export function openTables(
  name: string,
  tables: readonly AnyDayTable[],
): DoFnDefinition<Start, { parts: typeof tableParts }, Record<never, never>, unknown> {
  return {
    form: "each",
    name,
    input: start,
    outputs: { parts: tableParts },
    make: () => ({
      process(_, context) {
        for (const table of tables) context.emit("parts", { key: table.name, value: noPart });
      },
    }),
  };
}
