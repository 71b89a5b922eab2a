// What does an error of Pub/Sub mean to the people who run a crawl? One line that names what was asked for and what to do.
import { StoreError } from "../../ports/versioned-table.ts";

export interface Asked {
  project: string;
  /** Full or short name of a topic or subscription, where the request had one. */
  topic?: string;
  subscription?: string;
  doing: "publish to" | "pull from" | "acknowledge to" | "set up" | "use";
}

interface Meaning {
  /** `what` names topic or subscription, and project. */
  line: (what: string, asked: Asked) => string;
  final: boolean;
}

const missing: Meaning = {
  line: (what) => `${what} does not exist: run npm run set-up, or check --project and --crawl`,
  final: true,
};
const denied: Meaning = {
  line: (what, { doing }) => `this identity may not ${doing} ${what}: give it ${ROLES[doing]}`,
  final: true,
};
const credentials: Meaning = {
  line: (what) =>
    `no valid credentials for ${what}: run gcloud auth application-default login, or name a key in GOOGLE_APPLICATION_CREDENTIALS`,
  final: true,
};
const quota: Meaning = {
  line: (what) => `the quota for ${what} is used up: wait, or have it raised (IAM & Admin, Quotas)`,
  final: false,
};
const unreached: Meaning = {
  line: (what) => `${what} did not answer: check the network and the service's state; what was sent may have arrived`,
  final: false,
};
const unfit: Meaning = {
  line: (what, { doing }) => `${what} is not in a state to ${doing} it: look for a detached subscription or a deleted topic`,
  final: true,
};
const refused: Meaning = {
  line: (what, { doing }) => `Pub/Sub refused a request to ${doing} ${what}`,
  final: false,
};

const ROLES: Readonly<Record<Asked["doing"], string>> = {
  "publish to": "roles/pubsub.publisher",
  "pull from": "roles/pubsub.subscriber",
  "acknowledge to": "roles/pubsub.subscriber",
  "set up": "roles/pubsub.editor",
  use: "roles/pubsub.editor",
};

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto; codes that are not listed: refused. */
const byCode: Readonly<Record<number, Meaning>> = {
  1: unreached, // CANCELLED
  2: unreached, // UNKNOWN
  4: unreached, // DEADLINE_EXCEEDED
  5: missing, // NOT_FOUND
  7: denied, // PERMISSION_DENIED
  8: quota, // RESOURCE_EXHAUSTED
  9: unfit, // FAILED_PRECONDITION
  10: unreached, // ABORTED
  13: unreached, // INTERNAL
  14: unreached, // UNAVAILABLE
  16: credentials, // UNAUTHENTICATED
};

const DETAIL_CHARS_MAX = 300; // the client repeats every attempt's words

/** Never throws. A StoreError stays what it is. */
export function pubsubFault(error: unknown, asked: Asked): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const detail = String(message ?? error).slice(0, DETAIL_CHARS_MAX);
  // What fails before a call leaves has no code: the client looks for credentials then, and reports their files' errors as they are.
  const meaning =
    typeof code === "number" ? (byCode[code] ?? refused) : /credential|ENOENT|\.json/i.test(detail) ? credentials : refused;
  return new StoreError(`${meaning.line(named(asked), asked)} (${detail})`, { final: meaning.final, cause: error });
}

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

function named({ project, topic, subscription }: Asked): string {
  const part =
    topic !== undefined
      ? `topic ${short(topic)} of `
      : subscription !== undefined
        ? `subscription ${short(subscription)} of `
        : "";
  return `${part}Pub/Sub in project ${project}`;
}

function short(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
