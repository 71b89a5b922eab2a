// What does a failure of Cloud Storage mean to the people who run a crawl? One line that names bucket and object, and what to do.
import { StoreError } from "../../../ports/versioned-table.ts";

export type FaultKind = keyof typeof MEANINGS;

export interface Asked {
  /** What was asked for, as `cannot <verb>` goes on. */
  verb: string;
  bucket: string;
  object?: string;
}

interface Meaning {
  advice: string;
  /** Whether the same call may go well a moment later. */
  heals: boolean;
}

const MEANINGS = {
  exists: { advice: "another object has this name", heals: false },
  absent: { advice: "there is no such object; has a lifecycle rule deleted it?", heals: false },
  beyond: { advice: "the object is shorter than was asked for", heals: false },
  bucket: {
    advice: "there is no such bucket: make it by npm run set-up or terraform, or check --bucket",
    heals: false,
  },
  credentials: {
    advice:
      "no valid credentials: run 'gcloud auth application-default login', set GOOGLE_APPLICATION_CREDENTIALS, or give the worker a service account",
    heals: false,
  },
  project: { advice: "the project is not known: name it with --project or GOOGLE_CLOUD_PROJECT", heals: false },
  permission: { advice: "permission denied: grant this identity roles/storage.objectUser on the bucket", heals: false },
  billing: { advice: "the project cannot be billed: check its billing account", heals: false },
  quota: { advice: "a quota or rate limit is used up: wait, or raise it in the Cloud console", heals: true },
  busy: { advice: "the service fails at the moment: it is tried again", heals: true },
  damaged: { advice: "the bytes were damaged on the way: it is tried again", heals: true },
  unreachable: { advice: "the service is not reached: check the network and the endpoint", heals: true },
  refused: { advice: "the service refuses the call", heals: false },
} as const satisfies Record<string, Meaning>;

/** Never throws; an error without any status is taken for one of the network. */
export function faultOf(error: unknown): FaultKind {
  const { message: given, code } = (error ?? {}) as { message?: unknown; code?: unknown };
  const message = typeof given === "string" ? given : "";
  if (LATE === code) return "unreachable";
  if (/Could not load the default credentials|invalid_grant|invalid_rapt|Could not refresh access token/i.test(message))
    return "credentials";
  if (/Unable to detect a Project Id/i.test(message)) return "project";
  const status = statusOf(error);
  return status === undefined ? "unreachable" : faultOfStatus(status, reasonsOf(error), message);
}

function faultOfStatus(status: number, reasons: readonly string[], message: string): FaultKind {
  if (status === 400 && /hash.*match|checksum/is.test(message)) return "damaged";
  if (status === 403 && reasons.some((reason) => /limitExceeded|quotaExceeded/i.test(reason))) return "quota";
  if (status === 403 && reasons.some((reason) => /billing|accountDisabled/i.test(reason))) return "billing";
  if (status === 404 && /specified bucket does not exist/i.test(message)) return "bucket";
  return BY_STATUS[status] ?? (status >= 500 ? "busy" : "refused");
}

/** https://cloud.google.com/storage/docs/json_api/v1/status-codes */
const BY_STATUS: Readonly<Record<number, FaultKind>> = {
  401: "credentials",
  403: "permission",
  404: "absent",
  408: "busy",
  410: "absent",
  412: "exists",
  416: "beyond",
  429: "quota",
};

/** The client's two ways of sending give it in different places, one of them as text. */
function statusOf(error: unknown): number | undefined {
  const { code, status, response, message } = (error ?? {}) as Record<string, unknown>;
  const told = typeof message === "string" ? /status: (\d{3})\b/.exec(message)?.[1] : undefined;
  const answered = (response as { status?: unknown } | null | undefined)?.status;
  return [code, status, answered, told].map(statusIn).find((each) => each !== undefined);
}

function statusIn(value: unknown): number | undefined {
  const number = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  return number >= 300 && number < 600 ? number : undefined;
}

function reasonsOf(error: unknown): string[] {
  const { errors } = (error ?? {}) as { errors?: unknown };
  return Array.isArray(errors) ? errors.map((each) => (typeof each?.reason === "string" ? each.reason : "")) : [];
}

export function heals(error: unknown): boolean {
  return error instanceof StoreError ? !error.final : MEANINGS[faultOf(error)].heals;
}

/** A StoreError stays what it is. What does not heal is final. */
export function storeErrorOf(error: unknown, asked: Asked, kind: FaultKind = faultOf(error)): StoreError {
  if (error instanceof StoreError) return error;
  const { advice, heals: mayHeal } = MEANINGS[kind];
  const where = `gs://${asked.bucket}${asked.object === undefined ? "" : `/${asked.object}`}`;
  return new StoreError(`cannot ${asked.verb} ${where}: ${advice} (${detailOf(error)})`, { final: !mayHeal, cause: error });
}

const DETAIL_CHARS = 300; // some errors carry a whole page

/** What is thrown is not always an Error. */
function detailOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  if (typeof message === "string" && message !== "") return message.trim().split("\n", 1)[0]!.slice(0, DETAIL_CHARS);
  const status = statusOf(error);
  return status === undefined ? "it says no more" : `status ${status}`;
}

const LATE = "GLEANER_LATE";

/** What a call ends with that had no answer in time: it may have been carried out. */
export function lateError(afterMs: number): Error {
  return Object.assign(new Error(`no answer within ${afterMs} ms`), { code: LATE });
}
