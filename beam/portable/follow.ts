// How is a job watched to its end? By the streams of its states and messages, opened again when they break, for as long as the service answers.
import type { Log, LogLevel } from "../../ports/log.ts";
import { type Callee, type RunnerError, unary } from "./call.ts";
import { isLast, type JobState, jobState, type LastState } from "./job-state.ts";
import { type JobMessagesResponse, type JobService, jobApi, type ServiceError } from "./sdk.ts";

export type JobEnd =
  /** `why`: the last errors that the runner told of, where it failed. */
  | { kind: "ended"; state: LastState; why: readonly string[] }
  /** The job service does not answer any more; the job may go on. */
  | { kind: "lost"; error: RunnerError };

export interface Followed {
  readonly ended: Promise<JobEnd>;
  /** Stops watching; `ended` then never resolves. */
  leave(): void;
}

export interface FollowOptions {
  client: JobService;
  callee: Callee;
  jobId: string;
  log: Log;
}

const CALL_MS_MAX = 30_000;
/** Between two looks while all is well. */
const LOOK_MS = 15_000;
/** After a stream has broken, or a look failed. */
const PAUSE_MS = 1_000;
/** Looks that fail in a row, with a pause between them: a job service that starts again is away so long. */
const FAILURES_MAX = 15;
/** After a job's end; Prism tells why it failed only then. */
const LAST_WORDS_MS = 2_000;
const WHY_MAX = 10;

export function askState({ client, callee, jobId }: Omit<FollowOptions, "log">): Promise<JobState> {
  return unary<{ state: number }>(callee, "GetState", CALL_MS_MAX, (answered) => client.getState({ jobId }, answered)).then(
    ({ state }) => jobState(state),
  );
}

/** The log gets each state and each message of the runner. */
export function followJob(options: FollowOptions): Followed {
  const words = followMessages(options);
  const states = followStates(options);
  const ended = states.ended.then(async (end): Promise<JobEnd> => {
    if (end.kind === "ended") await words.last();
    words.leave();
    return end.kind === "ended" ? { ...end, why: words.errors() } : end;
  });
  return {
    ended,
    leave() {
      states.leave();
      words.leave();
    },
  };
}

type StatesEnd = { kind: "ended"; state: LastState } | { kind: "lost"; error: RunnerError };

/** The stream tells at once; a look now and then finds what it missed, and a service that is silent or gone. */
function followStates(options: FollowOptions): { ended: Promise<StatesEnd>; leave(): void } {
  const { client, callee, jobId, log } = options;
  let known: JobState | undefined;
  let failures = 0;
  let left = false;
  let stream: { cancel(): void } | undefined;
  let callOff = (): void => {};
  const leave = (): void => {
    left = true;
    callOff();
    stream?.cancel();
  };
  const lookIn = (delayMs: number, look: () => void): void => {
    callOff();
    if (!left) callOff = callee.clock.after(delayMs, look);
  };

  const ended = new Promise<StatesEnd>((resolve) => {
    const learn = (state: JobState): void => {
      if (left || state === known) return;
      known = state;
      log("info", "the job's state", { job: jobId, state });
      if (!isLast(state)) return;
      leave();
      resolve({ kind: "ended", state });
    };
    const fail = (error: RunnerError): void => {
      failures += 1;
      log("warn", "the job service does not answer", { job: jobId, cause: error.message, failures });
      if (failures < FAILURES_MAX) return;
      leave();
      resolve({ kind: "lost", error });
    };
    const look = (): void => {
      const asked = askState(options).then((state) => {
        failures = 0;
        learn(state);
      }, fail);
      void asked.then(() => {
        if (left) return;
        stream ??= open();
        lookIn(failures > 0 ? PAUSE_MS : LOOK_MS, look);
      });
    };
    const open = (): { cancel(): void } => {
      const opened = client.getStateStream({ jobId });
      opened.on("data", ({ state }: { state: number }) => learn(jobState(state)));
      opened.on("error", () => {});
      // Comes last, whatever was before.
      opened.on("status", () => {
        stream = undefined;
        lookIn(PAUSE_MS, look);
      });
      return opened;
    };
    stream = open();
    lookIn(LOOK_MS, look);
  });
  return { ended, leave };
}

const LEVELS: Readonly<Record<number, LogLevel>> = {
  [jobApi.JobMessage_MessageImportance.JOB_MESSAGE_DEBUG]: "debug",
  [jobApi.JobMessage_MessageImportance.JOB_MESSAGE_DETAILED]: "debug",
  [jobApi.JobMessage_MessageImportance.JOB_MESSAGE_WARNING]: "warn",
  [jobApi.JobMessage_MessageImportance.JOB_MESSAGE_ERROR]: "error",
};

/** Messages are for people: a stream that breaks is not opened again. */
function followMessages({ client, callee, jobId, log }: FollowOptions) {
  const errors: string[] = [];
  const stream = client.getMessageStream({ jobId });
  stream.on("data", ({ response }: JobMessagesResponse) => {
    if (response.oneofKind !== "messageResponse") return;
    const { importance, messageText } = response.messageResponse;
    const level = LEVELS[importance] ?? "info";
    log(level, "the runner says", { job: jobId, message: messageText });
    if (level === "error") errors.push(messageText);
    if (errors.length > WHY_MAX) errors.shift();
  });
  stream.on("error", (error: ServiceError) => log("debug", "the runner's messages end", { job: jobId, cause: error.details }));
  const closed = new Promise<void>((resolve) => stream.on("status", () => resolve()));
  return {
    errors: () => [...errors],
    /** When the runner has said all, or the time for it is over. */
    last: () =>
      new Promise<void>((resolve) => {
        const callOff = callee.clock.after(LAST_WORDS_MS, resolve);
        void closed.then(() => {
          callOff();
          resolve();
        });
      }),
    leave: () => stream.cancel(),
  };
}
