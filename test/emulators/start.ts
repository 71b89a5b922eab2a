// How does a test get emulators of Google's services? They are found or built, started on free ports, waited for, and die with the test.
import { setTimeout as pause } from "node:timers/promises";
import { unanswered } from "./answers.ts";
import { built } from "./build.ts";
import { type Guarded, startGuarded } from "./guarded.ts";
import { type EmulatorName, emulatorsMissing, locate, type Machine, namesOf, type Source, type Wanted } from "./locate.ts";
import { freePort, isFree } from "./ports.ts";

export interface Emulators {
  /** Those that were wanted. */
  names: readonly EmulatorName[];
  /** `host:port` of one that was wanted; throws for another. Stays the same over `restart`. */
  endpoint: (name: EmulatorName) => string;
  /** What Google's clients look for: PUBSUB_EMULATOR_HOST and BIGTABLE_EMULATOR_HOST (host:port), STORAGE_EMULATOR_HOST (http://host:port). */
  env: Readonly<Record<string, string>>;
  /** For people: what runs, and where it is from. */
  told: (name: EmulatorName) => string;
  /** Whether its process runs. */
  alive: (name: EmulatorName) => boolean;
  /** The last lines that it printed. */
  printed: (name: EmulatorName) => string;
  /** Ends one at once, with all that it kept: they keep it in memory. */
  kill: (name: EmulatorName) => Promise<void>;
  /** Ends one if it runs, and starts it again, empty, on the same port; resolves when it answers. */
  restart: (name: EmulatorName) => Promise<void>;
  /** Ends all and waits for that. Again does nothing. */
  stop: () => Promise<void>;
}

export interface StartOptions {
  /** Default: any that are free. */
  ports?: Readonly<Partial<Record<EmulatorName, number>>>;
  /** Given lines of progress. */
  tell?: (line: string) => void;
  /** Where they are looked for; default is this machine. */
  machine?: Machine;
}

interface Running {
  source: Source;
  port: number;
  child: Guarded;
}

/** From the start of its process to its first answer; a second for most, a few for a Java on a busy machine. */
const ANSWER_MS_MAX = 60_000;
const ASK_EVERY_MS = 50;

/** Another test may take the port between our look and the emulator's. */
const PORT_TRIES_MAX = 3;

/** Starts the wanted emulators. Throws where one is missing, cannot be built, or does not answer: with the cause and what it printed. */
export async function startEmulators(wanted: Wanted, options: StartOptions = {}): Promise<Emulators> {
  const sources = await prepare(wanted, options);
  const started = await Promise.allSettled(sources.map((source) => start(source, options.ports?.[source.name])));
  const running = new Map(
    started.flatMap((one) => (one.status === "fulfilled" ? [[one.value.source.name, one.value] as const] : [])),
  );
  const stop = async () => {
    await Promise.all([...running.values()].map(({ child }) => child.end()));
  };
  const failed = started.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { ...handles(running), stop };
}

/** Finds and builds the wanted, starts nothing. Throws where one is missing or cannot be built. */
export async function prepare(wanted: Wanted, { tell, machine }: StartOptions = {}): Promise<Source[]> {
  const missing = emulatorsMissing(wanted, machine);
  if (missing !== undefined) throw new Error(missing);
  const sources: Source[] = [];
  // One after another: each build takes all cores.
  for (const located of namesOf(wanted).map((name) => locate(name, machine)))
    if (located.kind === "found") sources.push(await built(located.source, tell));
  return sources;
}

function handles(running: Map<EmulatorName, Running>): Omit<Emulators, "stop"> {
  const get = (name: EmulatorName) => {
    const one = running.get(name);
    if (one === undefined) throw new Error(`the emulator of ${name} was not wanted from startEmulators`);
    return one;
  };
  return {
    names: [...running.keys()],
    alive: (name) => get(name).child.alive(),
    printed: (name) => get(name).child.printed(),
    endpoint: (name) => `127.0.0.1:${get(name).port}`,
    env: Object.fromEntries([...running.values()].map(({ source, port }) => variable(source.name, port))),
    told: (name) => get(name).source.told,
    kill: (name) => get(name).child.end(),
    restart: async (name) => {
      const { source, port, child } = get(name);
      await child.end();
      running.set(name, { source, port, child: await launch(source, port) });
    },
  };
}

function variable(name: EmulatorName, port: number): [name: string, value: string] {
  // Without a scheme the storage client takes https.
  return [`${name.toUpperCase()}_EMULATOR_HOST`, `${name === "storage" ? "http://" : ""}127.0.0.1:${port}`];
}

async function start(source: Source, port?: number): Promise<Running> {
  if (port !== undefined) {
    if (!(await isFree(port)))
      throw new Error(`port ${port} of 127.0.0.1, asked for ${source.name}, is in use: choose another`);
    return { source, port, child: await launch(source, port) };
  }
  for (let tries = 1; ; tries++) {
    const free = await freePort();
    try {
      return { source, port: free, child: await launch(source, free) };
    } catch (error) {
      if (tries === PORT_TRIES_MAX || (await isFree(free))) throw error;
    }
  }
}

/** Resolves when it answers; else it is ended, and the error says what it printed. */
async function launch({ name, told, program, args }: Source, port: number): Promise<Guarded> {
  const child = startGuarded({ program, args: (folder) => args(port, folder) });
  const until = Date.now() + ANSWER_MS_MAX;
  let why: string | undefined;
  while (child.alive() && Date.now() < until) {
    why = await unanswered(name, `127.0.0.1:${port}`);
    if (why === undefined && child.alive()) return child;
    await pause(ASK_EVERY_MS);
  }
  const what = child.alive() ? `did not answer within ${ANSWER_MS_MAX / 1000} s (${why})` : `ended (${await child.wait()})`;
  await child.end();
  throw new Error(`the emulator of ${name}, ${told}, ${what}. It printed:\n${child.printed() || "nothing"}`);
}
