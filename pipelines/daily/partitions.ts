// The closing of a day as a graph: small files joined, documents with each version once, segments, and for each family a manifest that is written last.
import { families, partitionFolder } from "../../core/partitions/partition-files.ts";
import { chooseFiles } from "../../transforms/daily/partitions/choose-files.ts";
import { closePartition } from "../../transforms/daily/partitions/close-partition.ts";
import { compactHours, segmentHours } from "../../transforms/daily/partitions/compact-hours.ts";
import { closeDocuments, findSuperfluous, gatherFacts, readPlaces } from "../../transforms/daily/partitions/documents.ts";
import { closeSegments } from "../../transforms/daily/partitions/segments.ts";
import type { DailyPhase } from "./phase.ts";

export const partitionsPhase: DailyPhase = {
  name: "partitions",
  doing: "closing documents and pages",
  folders: (day) => families.map((family) => partitionFolder(family, day)),
  build(p, config) {
    const hours = p.reshuffle("SpreadHours", p.start("SegmentHours", segmentHours, {}).hours);
    const chosen = p.grouped("ChooseFiles", chooseFiles, config, p.each("CompactHours", compactHours, config, hours).done);
    const files = p.reshuffle("SpreadFiles", chosen.files);
    const documents = p.each("ReadPlaces", readPlaces, {}, files);
    const superfluous = p.grouped("FindSuperfluous", findSuperfluous, {}, documents.places);
    const facts = p.flatten("FileFacts", documents.facts, superfluous.facts);
    const gathered = p.grouped("GatherFacts", gatherFacts, {}, facts);
    const closed = p.grouped("CloseDocuments", closeDocuments, config, gathered.files);
    const segments = p.each("CloseSegments", closeSegments, config, files);
    const parts = p.flatten("PartitionParts", chosen.parts, closed.parts, segments.parts);
    p.grouped("ClosePartition", closePartition, config, parts);
  },
  definitions: [
    ...[segmentHours, compactHours, chooseFiles, readPlaces, findSuperfluous, gatherFacts],
    ...[closeDocuments, closeSegments, closePartition],
  ],
};
