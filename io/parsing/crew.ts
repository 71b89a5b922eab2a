// How do a few runners share the pages that wait? One page each at a time, within its time; one that overruns is ended and replaced.
import type { Clock } from "../../ports/clock.ts";
import type { ParseFailure } from "../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";
import { failure, type Runner, type StartRunner } from "./runner.ts";
import type { WorkerMessage } from "./worker.ts";

export interface CrewOptions {
  start: StartRunner;
  /** Runners; each is started when there is work for it. */
  runners: number;
  /** For one page, from the moment a runner takes it. */
  timeMs: number;
  /** Of one runner's heap. */
  memoryMb: number;
  /** Pages beside one for each runner that may wait; one more is `busy`. */
  queueMax: number;
  /** A runner without work for this long is ended; undefined: kept. */
  idleMs?: number;
  clock: Clock;
}

export interface Crew {
  parse(request: ParseRequest): Promise<ParsedPage | ParseFailure>;
  close(): Promise<void>;
}

/** A runner loads its modules in a tenth of that even on a busy machine; one that takes longer is replaced. */
const START_MS = 30_000;
const START_TRIES = 5; // in a row; then this machine has no room for a parser, and a page that waited for one would wait for ever

type Result = ParsedPage | ParseFailure;

interface Job {
  request: ParseRequest;
  resolve(result: Result): void;
}

/** A runner and what it is doing: nothing while it starts (`started` false) or is idle. */
interface Member {
  runner: Runner;
  started: boolean;
  job: Job | undefined;
  jobId: number;
  callOff(): void;
}

/** A page that overruns a limit is answered `timeout` or `memory`. */
export function parsingCrew(options: CrewOptions): Crew {
  const members = new Set<Member>();
  const queue: Job[] = [];
  let jobs = 0;
  let failedStarts = 0; // in a row
  let closing: Promise<void> | undefined;

  function start(): void {
    const member: Member = { runner: nobody, started: false, job: undefined, jobId: 0, callOff: () => {} };
    members.add(member);
    member.callOff = options.clock.after(START_MS, () => end(member, failure("busy", "a parser did not start")));
    try {
      member.runner = options.start(options.memoryMb, {
        heard: (message) => hear(member, message),
        failed: (cause) => end(member, cause),
      });
    } catch (error) {
      end(member, failure("busy", `a parser could not be started: ${String(error)}`)); // no file handle, no memory
    }
  }

  function hear(member: Member, message: WorkerMessage): void {
    if (!members.has(member)) return;
    if (message.kind === "ready") {
      member.started = true;
      failedStarts = 0;
    } else if (message.id !== member.jobId) return;
    member.callOff();
    const { job } = member;
    member.job = undefined;
    if (message.kind === "parsed") job?.resolve(message.result);
    give();
    if (member.job === undefined && options.idleMs !== undefined)
      member.callOff = options.clock.after(options.idleMs, () => end(member, failure("error", "idle")));
  }

  /**
   * Takes it out and answers its page. One that never started answers the page that waits longest, so that nothing retries for ever:
   * `busy`, for that page is not at fault and can be parsed later, until it is plain that later will be no better.
   */
  function end(member: Member, result: ParseFailure): void {
    if (!members.delete(member)) return;
    member.callOff();
    void member.runner.end();
    if (member.started) member.job?.resolve(result);
    else queue.shift()?.resolve(failure(++failedStarts < START_TRIES ? "busy" : "error", result.detail));
    give();
  }

  /** Hands waiting pages to idle runners, and starts one more where there are too few. */
  function give(): void {
    if (closing !== undefined) return;
    for (const member of members) {
      if (queue.length === 0) return;
      if (member.started && member.job === undefined) assign(member, queue.shift() as Job);
    }
    const starting = [...members].filter((member) => !member.started).length;
    for (let more = queue.length - starting; more > 0 && members.size < options.runners; more--) start();
  }

  function assign(member: Member, job: Job): void {
    member.callOff();
    member.job = job;
    member.jobId = ++jobs;
    const timeMs = Math.min(options.timeMs, job.request.timeMs ?? options.timeMs);
    member.callOff = options.clock.after(timeMs, () => {
      end(member, failure("timeout", `parsing took longer than ${timeMs} ms`));
    });
    member.runner.post({ id: member.jobId, request: job.request });
  }

  async function shutDown(): Promise<void> {
    const ended = failure("busy", "the parser is closing");
    for (const job of queue.splice(0)) job.resolve(ended);
    const left = [...members];
    members.clear();
    for (const member of left) {
      member.callOff();
      member.job?.resolve(ended);
    }
    await Promise.all(left.map((member) => member.runner.end()));
  }

  return {
    async parse(request) {
      if (closing !== undefined) return failure("busy", "the parser is closing");
      const taken = [...members].filter((member) => member.job !== undefined).length;
      if (taken + queue.length >= options.runners + options.queueMax)
        return failure("busy", `${queue.length} pages wait already`);
      return new Promise((resolve) => {
        queue.push({ request, resolve });
        give();
      });
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

/** Stands in until a runner is made. */
const nobody: Runner = { post() {}, end: async () => {} };
