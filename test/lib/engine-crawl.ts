// What does a crawl on another engine do, as its users have it? The command beside its engine: started, waited for by what it did, and what it left.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { EventKind, EventOf } from "../../schemas/events.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import type { Emulators } from "../emulators/start.ts";
import { type EngineName, engineTests } from "../engines/engine-tests.ts";
import { startFlink } from "../engines/flink.ts";
import { startPrism } from "../engines/prism.ts";
import { type CloudCrawl, cloudEvents, withEnvironment } from "./cloud-crawl.ts";

const ROOT = join(import.meta.dirname, "../..");
const COMMAND = join(ROOT, "pipelines/commands/crawl.ts");
const WORKER = join(ROOT, "pipelines/container/main.ts");
const LOOK_MS = 200;
/** From SIGINT to the end of a command whose engine does not answer: it gives up the job after 15 s, and its workers after as long. */
const STOP_MS_MAX = 60_000;

export const engineStarts = { prism: startPrism, flink: startFlink } as const;

/** Declares tests that need these engines and all emulators, whose environment is that of this process and its children. */
export function engineCrawlTests(engines: readonly EngineName[], declare: (emulators: () => Emulators) => void): Promise<void> {
  return engineTests(engines, async () => {
    await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
      let undo: () => void;
      before(() => {
        undo = withEnvironment(emulators().env);
      });
      after(() => undo());
      declare(emulators);
    });
  });
}

export interface EngineCrawl {
  /** Looks again and again; fails where the command ends before, or the time is over. `what` is for that message. */
  until(what: string, done: () => boolean | Promise<boolean>, msMax: number): Promise<void>;
  /** Ctrl-C, then what the command has ended with: see EndedCrawl. */
  interrupt(): Promise<EndedCrawl>;
  /** By itself, within so long. */
  ended(msMax: number): Promise<EndedCrawl>;
}

export interface EndedCrawl {
  /** null where it had to be killed. */
  code: number | null;
  stderr: string;
}

/** Starts `npm run crawl` as a job of an engine; it ends with the test. A job may take longer than startCommand of crawl-command.ts allows. */
export function startEngineCrawl(context: TestContext, args: readonly string[]): EngineCrawl {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    stderr += part;
  });
  const end = exitOf(child).then((code) => ({ code, stderr }));
  let hasEnded = false;
  void end.then(() => {
    hasEnded = true;
    process.off("exit", kill);
  });
  context.after(async () => {
    kill();
    await end;
  });
  const ended = async (msMax: number): Promise<EndedCrawl> => {
    const timer = setTimeout(kill, msMax);
    return end.finally(() => clearTimeout(timer));
  };
  return {
    async until(what, done, msMax) {
      for (let waits = 0; !(await done()); waits++) {
        if (hasEnded) throw new Error(`the command ended before ${what}:\n${stderr.slice(-4000)}`);
        if (waits * LOOK_MS > msMax) throw new Error(`not within ${msMax / 1000} s: ${what}. It said:\n${stderr.slice(-4000)}`);
        await pause(LOOK_MS);
      }
    },
    interrupt() {
      child.kill("SIGINT");
      return ended(STOP_MS_MAX);
    },
    ended,
  };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}

export interface WorkerProgram {
  /** For --worker-command. */
  command: string;
  /** Of all workers that were started from it so far, in that order. */
  pids(): number[];
  /** Workers that start from now on wait; returns what lets them go. */
  hold(): () => void;
}

/** The worker's entry, of the sources or another one, as a program of this machine which tells its process ids. */
export function workerProgram(context: TestContext, entry = WORKER): WorkerProgram {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-worker-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const [command, told, held] = ["worker", "pids", "held"].map((name) => join(folder, name)) as [string, string, string];
  const lines = [
    "#!/bin/sh",
    `echo $$ >>'${told}'`,
    `while [ -e '${held}' ]; do sleep 0.1; done`,
    `exec '${process.execPath}' '${entry}' "$@"`,
  ];
  writeFileSync(command, `${lines.join("\n")}\n`, { mode: 0o755 });
  return {
    command,
    pids: () => (existsSync(told) ? readFileSync(told, "utf8").split("\n").slice(0, -1).map(Number) : []),
    hold() {
      writeFileSync(held, "");
      return () => rmSync(held);
    },
  };
}

export interface EventBook {
  /** All that were told so far. */
  read<K extends "fetch" | "skip">(kind: K): Promise<EventOf<K>[]>;
}

/** The events of a crawl that goes on: what was read once is kept here. */
export function eventBook(emulators: Emulators, cloud: CloudCrawl): EventBook {
  const kept = new Map<EventKind, unknown[]>();
  return {
    async read<K extends "fetch" | "skip">(kind: K) {
      const all = [...(kept.get(kind) ?? []), ...(await cloudEvents(emulators, cloud, kind))];
      kept.set(kind, all);
      return all as EventOf<K>[];
    },
  };
}
