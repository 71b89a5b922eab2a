// Beside the clusters themselves: what was counted while they were found, and how many records were told their role.
import { struct, type TypeOf, text, uint } from "../codec.ts";
import type { DayTable } from "./day-table.ts";

const clusterCount = struct({ name: text, count: uint });
export type ClusterCount = TypeOf<typeof clusterCount>;

export const clusterReport: DayTable<ClusterCount> = {
  name: "cluster-report",
  version: 1,
  row: clusterCount,
  words: { name: "What was counted; docs/clusters.md.", count: "How many; what is not there was met by nothing." },
};

const rolesNoted = struct({ part: text, noted: uint, cleared: uint, superseded: uint });
export type RolesNoted = TypeOf<typeof rolesNoted>;

export const clusterRolesNoted: DayTable<RolesNoted> = {
  name: "cluster-roles-noted",
  version: 1,
  row: rolesNoted,
  words: {
    part: "The range of keys.",
    noted: "Records that now have the role that the clusters give them.",
    cleared: "Records that had a role and stand alone now.",
    superseded: "Records that were written by others in between: the next day's run tells them.",
  },
};
