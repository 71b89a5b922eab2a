// In which states can a job be, and which are its last? (beam_job_api.proto, JobState)
import { jobApi } from "./sdk.ts";

export type JobState = LastState | "unspecified" | "stopped" | "starting" | "running" | "draining" | "updating" | "cancelling";

const LAST = ["done", "failed", "cancelled", "updated", "drained"] as const;
/** After which a job does nothing more. */
export type LastState = (typeof LAST)[number];

/** Of the number in the proto; one that a newer Beam has is "unspecified". */
export function jobState(state: number): JobState {
  return (jobApi.JobState_Enum[state]?.toLowerCase() as JobState | undefined) ?? "unspecified";
}

export function isLast(state: JobState): state is LastState {
  return (LAST as readonly string[]).includes(state);
}
