// The closing of a day as a graph: its documents, each version once, and its segments, each with a manifest that is written last.
import { families, partitionFolder } from "../../core/partitions/partition-files.ts";
import { chooseFiles } from "../../transforms/daily/partitions/choose-files.ts";
import { closePartition } from "../../transforms/daily/partitions/close-partition.ts";
import { closeDocuments, findSuperfluous, readPlaces } from "../../transforms/daily/partitions/documents.ts";
import { closeSegments } from "../../transforms/daily/partitions/segments.ts";
import type { DailyPhase } from "./phase.ts";

export const partitionsPhase: DailyPhase = {
  name: "partitions",
  doing: "closing documents and pages",
  folders: (day) => families.map((family) => partitionFolder(family, day)),
  build(p, config) {
    const chosen = p.start("ChooseFiles", chooseFiles, config);
    const files = p.reshuffle("SpreadFiles", chosen.files);
    const documents = p.each("ReadPlaces", readPlaces, {}, files);
    const superfluous = p.grouped("FindSuperfluous", findSuperfluous, {}, documents.places);
    const facts = p.flatten("FileFacts", documents.facts, superfluous.facts);
    const closed = p.grouped("CloseDocuments", closeDocuments, config, facts);
    const segments = p.each("CloseSegments", closeSegments, config, files);
    const parts = p.flatten("PartitionParts", chosen.parts, closed.parts, segments.parts);
    p.grouped("ClosePartition", closePartition, config, parts);
  },
  definitions: [chooseFiles, readPlaces, findSuperfluous, closeDocuments, closeSegments, closePartition],
};
