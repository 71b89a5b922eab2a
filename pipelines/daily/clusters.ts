// Near-duplicate clusters as graphs: found among all documents and written down, then told to the records.

import type { DayFiles } from "../../ports/day-files.ts";
import { type ClusterCount, clusterReport, clusterRolesNoted } from "../../schemas/daily/cluster-tables.ts";
import { clusterTable } from "../../schemas/daily/clusters.ts";
import { tableFolder } from "../../schemas/daily/day-table.ts";
import { closeTables } from "../../transforms/daily/close-table.ts";
import { clusterDofns, clusterSteps } from "../../transforms/daily/clusters/cluster-steps.ts";
import { partOf } from "../../transforms/daily/day-part.ts";
import { allKeyRanges } from "../../transforms/daily/key-ranges.ts";
import { openTables } from "../../transforms/daily/open-tables.ts";
import { readDocuments } from "../../transforms/daily/roles/documents.ts";
import { noteRoles } from "../../transforms/daily/roles/note-roles.ts";
import { byRange, countRows, writeClusters, writeCounts } from "../../transforms/daily/roles/write-clusters.ts";
import { type DailyPhase, foldersOf } from "./phase.ts";

const found = [clusterTable, clusterReport];
const openClusters = openTables("dailyOpenClusters", found);
const closeClusters = closeTables("dailyCloseClusters", found);
const closeNoted = closeTables("dailyCloseRolesNoted", [clusterRolesNoted]);

/** Where no earlier day tells: a crawl of one machine. More than sixteen times as many cost more. */
const DOCUMENTS_USUAL = 1_000_000;

/** How many documents a day's clusters were found among; undefined where that day has none. */
export async function documentsOf(files: DayFiles, day: string): Promise<number | undefined> {
  for (const { name } of await files.list(tableFolder(day, clusterReport))) {
    if (partOf(name) === undefined) continue;
    for await (const lines of files.lines(name))
      for (const line of lines) {
        const { name: counted, count } = JSON.parse(line) as ClusterCount;
        if (counted === "documents") return count;
      }
  }
  return undefined;
}

/** Changes no record. */
export const clustersPhase: DailyPhase = {
  name: "clusters",
  doing: "finding near-duplicates",
  folders: foldersOf(found),
  build(p, config) {
    const { ranges } = p.start("KeyRanges", allKeyRanges, {});
    const { documents } = p.each("ReadDocuments", readDocuments, {}, p.reshuffle("SpreadRanges", ranges));
    const clusters = clusterSteps(p, documents, config.documentsExpected ?? DOCUMENTS_USUAL);
    const { rows } = p.each("ClustersByRange", byRange, {}, clusters.rows);
    const written = p.grouped("WriteClusters", writeClusters, config, rows);
    const { counts } = p.each("ClusterCountRows", countRows, {}, clusters.counts);
    const counted = p.grouped("WriteCounts", writeCounts, config, counts);
    const opened = p.start("OpenClusters", openClusters, {});
    p.grouped("CloseClusters", closeClusters, config, p.flatten("ClusterParts", opened.parts, written.parts, counted.parts));
  },
  definitions: [
    ...[allKeyRanges, readDocuments, ...clusterDofns],
    ...[byRange, writeClusters, countRows, writeCounts, openClusters, closeClusters],
  ],
};

export const rolesPhase: DailyPhase = {
  name: "roles",
  doing: "telling pages their role",
  folders: foldersOf([clusterRolesNoted]),
  build(p, config) {
    const { ranges } = p.start("KeyRanges", allKeyRanges, {});
    const { parts } = p.each("NoteRoles", noteRoles, config, p.reshuffle("SpreadRanges", ranges));
    p.grouped("CloseRolesNoted", closeNoted, config, parts);
  },
  definitions: [allKeyRanges, noteRoles, closeNoted],
};
