// What does an error of Bigtable mean to the people who run a crawl? One line that names project, instance and table, and what to do.
import { StoreError } from "../../../ports/versioned-table.ts";

/** Where it happened. */
export interface Place {
  project: string;
  instance: string;
  table: string;
}

/** https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
export const status = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

export type StatusName = keyof typeof status;

interface Meaning {
  line: (place: Place) => string;
  final: boolean;
}

/** The client's own words, whole. */
const CLOSED = /^The client has already been closed\.$/;

const noCredentials: Meaning = {
  line: ({ project }) =>
    `there are no credentials for Google Cloud project ${project}: run \`gcloud auth application-default login\`, set GOOGLE_APPLICATION_CREDENTIALS, or run as a service account`,
  final: true,
};
const noProject: Meaning = {
  line: ({ instance }) => `no project is known for Bigtable instance ${instance}: give --project`,
  final: true,
};
const closed: Meaning = { line: (place) => `${named(place)} is closed`, final: true };
const disabled: Meaning = {
  line: ({ project }) =>
    `the Bigtable API is not enabled in project ${project}: run \`gcloud services enable bigtable.googleapis.com bigtableadmin.googleapis.com --project ${project}\``,
  final: true,
};
const routing: Meaning = {
  line: (place) =>
    `${named(place)} refuses conditional writes: use an app profile with single-cluster routing that allows single-row transactions`,
  final: true,
};
const noInstance: Meaning = {
  line: ({ project, instance }) =>
    `project ${project} has no Bigtable instance ${instance}: check both names, or make the instance (terraform/)`,
  final: true,
};

/**
 * What is said, where that tells more than its code, and only under that code: a text may quote a key of ours, and keys are written by
 * strangers. Without a code it is the client that speaks, before it has sent anything.
 */
const byText: readonly { code: number | undefined; text: RegExp; meaning: Meaning }[] = [
  { code: undefined, text: /^could not load the default credentials/i, meaning: noCredentials },
  { code: undefined, text: /^unable to detect a project id/i, meaning: noProject },
  { code: undefined, text: CLOSED, meaning: closed },
  { code: status.aborted, text: CLOSED, meaning: closed },
  { code: status.permissionDenied, text: /has not been used in project|SERVICE_DISABLED/, meaning: disabled },
  {
    code: status.failedPrecondition,
    text: /app(?:lication)? profile|single-row transaction|multi-?cluster/i,
    meaning: routing,
  },
  { code: status.notFound, text: /^(?:5 NOT_FOUND: )?instance\b/i, meaning: noInstance },
];

const byCode: Readonly<Record<number, Meaning>> = {
  [status.deadlineExceeded]: {
    line: (place) => `${named(place)} did not answer in time: see its CPU load in the console, add nodes, or wait`,
    final: false,
  },
  [status.notFound]: {
    line: (place) => `${named(place)} does not exist: check --project, --instance and --crawl, or make it by npm run set-up`,
    final: true,
  },
  [status.permissionDenied]: {
    line: (place) =>
      `${named(place)} may not be used by this account: grant it roles/bigtable.user (to set up: roles/bigtable.admin)`,
    final: true,
  },
  [status.resourceExhausted]: {
    line: (place) => `${named(place)} is over a quota: raise it, add nodes, or lower --fetchers`,
    final: false,
  },
  [status.failedPrecondition]: { line: (place) => `${named(place)} is not in a state to be used: see its cause`, final: true },
  [status.unimplemented]: { line: (place) => `${named(place)} is no Bigtable that we know: check its endpoint`, final: true },
  [status.unavailable]: {
    line: (place) => `${named(place)} cannot be reached: check the network, its endpoint and status.cloud.google.com, or wait`,
    final: false,
  },
  [status.unauthenticated]: {
    line: ({ project }) =>
      `the credentials for Google Cloud project ${project} are not accepted: run \`gcloud auth application-default login\`, or give the service account a valid key`,
    final: true,
  },
};

/** Never throws. A StoreError stays what it is. */
export function bigtableTrouble(error: unknown, place: Place): StoreError {
  if (error instanceof StoreError) return error;
  const meaning = meaningOf(error);
  const line = meaning?.line(place) ?? `${named(place)} failed at a request`;
  return new StoreError(`${line} (${textOf(error)})`, { final: meaning?.final ?? false, cause: error });
}

/** Whether the service has surely not done what it was asked to, and would not do it if asked again. */
export function wasRefused(error: unknown): boolean {
  if (error instanceof StoreError) return true;
  if (textMeaning(error) !== undefined) return true;
  const code = codeOf(error);
  return code !== undefined && REFUSALS.has(code);
}

// Over a quota, aborted or of unknown cause is not among them: none of these says that nothing was done.
const REFUSALS: ReadonlySet<number> = new Set([
  status.invalidArgument,
  status.notFound,
  status.alreadyExists,
  status.permissionDenied,
  status.failedPrecondition,
  status.outOfRange,
  status.unimplemented,
  status.unauthenticated,
]);

export function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}

/** For metrics: a closed list. */
export function statusName(code: number | undefined): StatusName {
  return NAMES.get(code ?? status.unknown) ?? "unknown";
}

const NAMES = new Map(Object.entries(status).map(([name, code]) => [code as number, name as StatusName]));

export function otherFormat(place: Place, found: string, expected: string): StoreError {
  const line = `${named(place)} was made by another version of this program (its data has format ${JSON.stringify(found)}, this one reads ${JSON.stringify(expected)}): use that version, or choose another --crawl`;
  return new StoreError(line, { final: true });
}

export function notSetUp(place: Place): StoreError {
  return new StoreError(
    `${named(place)} says no version, so these tables are not set up: run npm run set-up, or choose another --crawl`,
    {
      final: true,
    },
  );
}

/** A cell that no version of this program has written. */
export function foreignRow(place: Place, key: string): StoreError {
  const line = `row ${JSON.stringify(key.slice(0, KEY_CHARS))} of ${named(place)} was not written by this program: choose another --crawl`;
  return new StoreError(line, { final: true });
}

const KEY_CHARS = 200; // of a key in an error's line

/** Its answer was lost and the row has another rev by now: that of a later write over ours, or of one that came before it. */
export function movedOn(place: Place, key: string, cause: unknown): StoreError {
  const line = `row ${JSON.stringify(key.slice(0, KEY_CHARS))} of ${named(place)} moved on while the answer to a write was lost: it may or may not have happened`;
  return new StoreError(line, { cause });
}

export function named({ project, instance, table }: Place): string {
  return `table ${table} of Bigtable instance ${instance} in project ${project}`;
}

function meaningOf(error: unknown): Meaning | undefined {
  return textMeaning(error) ?? byCode[codeOf(error) ?? -1];
}

function textMeaning(error: unknown): Meaning | undefined {
  const code = codeOf(error);
  const said = textOf(error);
  return byText.find(({ code: under, text }) => under === code && text.test(said))?.meaning;
}

const TEXT_CHARS = 500; // of what the service said: some answers carry pages of details

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, TEXT_CHARS).replaceAll(/\s+/g, " ");
}
