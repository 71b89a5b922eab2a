// The daily pipeline: what is done once a day is over, in this order. Each phase is a bounded graph of its own.
import type { AnyCombineDefinition } from "../beam/combine.ts";
import type { AnyDefinition } from "../beam/pardo.ts";
import { buildBatch } from "../beam/pipeline.ts";
import { dofnRegistry } from "../beam/registry.ts";
import { clustersPhase, rolesPhase } from "./daily/clusters.ts";
import { partitionsPhase } from "./daily/partitions.ts";
import type { DailyConfig, DailyPhase } from "./daily/phase.ts";
import { repairPhase } from "./daily/repair.ts";
import { reschedulePhase, revisitPhase } from "./daily/revisit.ts";
import { statisticsPhase } from "./daily/statistics.ts";

/** What a page is among near-duplicates decides how often it is visited, so clusters come first. */
export const dailyPhases: readonly DailyPhase[] = [
  repairPhase,
  clustersPhase,
  rolesPhase,
  revisitPhase,
  reschedulePhase,
  statisticsPhase,
  partitionsPhase,
];

export const dailyPipeline = (phase: DailyPhase, config: DailyConfig) => buildBatch((p) => phase.build(p, config));

/** Every DoFn and combining of the graphs, by which a worker finds them. */
export const dailyRegistry = () =>
  dofnRegistry<AnyDefinition | AnyCombineDefinition>([...new Set(dailyPhases.flatMap(({ definitions }) => definitions))]);
