// The repair as a graph: records, due entries, hosts and stored bodies, each against the other; what is not as it should be is mended and counted.
import { repairReport } from "../../schemas/daily/repair.ts";
import { closeTables } from "../../transforms/daily/close-table.ts";
import { allKeyRanges } from "../../transforms/daily/key-ranges.ts";
import { openTables } from "../../transforms/daily/open-tables.ts";
import { noFindings, sumFindings, toReport, writeReport } from "../../transforms/daily/repair/findings.ts";
import { repairRange } from "../../transforms/daily/repair/repair-range.ts";
import { joinBodies, references, segmentIndexes, storedBodies } from "../../transforms/daily/repair/stored-bodies.ts";
import { type DailyPhase, foldersOf } from "./phase.ts";

const openRepair = openTables("dailyOpenRepair", [repairReport]);
const closeRepair = closeTables("dailyCloseRepair", [repairReport]);

export const repairPhase: DailyPhase = {
  name: "repair",
  doing: "looking through records and due entries",
  folders: foldersOf([repairReport]),
  build(p, config) {
    const ranges = p.reshuffle("SpreadRanges", p.start("KeyRanges", allKeyRanges, {}).ranges);
    const records = p.each("RepairRange", repairRange, config, ranges);
    const referred = p.each("References", references, config, ranges);
    const indexes = p.reshuffle("SpreadIndexes", p.start("SegmentIndexes", segmentIndexes, config).indexes);
    const stored = p.each("StoredBodies", storedBodies, config, indexes);
    const bodies = p.grouped("JoinBodies", joinBodies, {}, p.flatten("BodyPlaces", referred.places, stored.places));
    const none = p.start("NoFindings", noFindings, {});
    const sums = p.combined(
      "SumFindings",
      sumFindings,
      p.flatten("AllFindings", none.findings, records.findings, bodies.findings),
    );
    const report = p.grouped("WriteReport", writeReport, config, p.each("ToReport", toReport, {}, sums).all);
    const opened = p.start("OpenRepair", openRepair, {});
    p.grouped("CloseRepair", closeRepair, config, p.flatten("ReportParts", opened.parts, report.parts));
  },
  definitions: [
    ...[allKeyRanges, repairRange, references, segmentIndexes, storedBodies, joinBodies],
    ...[noFindings, sumFindings, toReport, writeReport, openRepair, closeRepair],
  ],
};
