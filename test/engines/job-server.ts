// How does a test get a job service? Its program is started on a free port, asked until it answers a real call, and dies with the test.
import { setTimeout as pause } from "node:timers/promises";
import { unanswered } from "../../beam/portable/unanswered.ts";
import { systemClock } from "../../io/clock.ts";
import { type Guarded, startGuarded } from "../emulators/guarded.ts";
import { freePort, isFree } from "../emulators/ports.ts";

export interface JobServer {
  /** `host:port` of its job service. */
  readonly endpoint: string;
  readonly pid: number;
  /** For people: what runs, and where it is from. */
  readonly told: string;
  readonly alive: () => boolean;
  /** The last lines that it printed. */
  readonly printed: () => string;
  /** Ends it at once, with its jobs and its folder; resolves when that is done. Again does nothing. */
  readonly stop: () => Promise<void>;
}

export interface JobServerProgram {
  told: string;
  program: string;
  /** `folder` may be written to and goes with it. */
  args: (port: number, folder: string) => readonly string[];
  env?: (folder: string) => Readonly<Record<string, string>>;
  /** Given each piece that it prints. */
  onPrinted?: (text: string) => void;
  /** From its start to its first answer. */
  answerMsMax: number;
}

const ASK_EVERY_MS = 100;
const clock = systemClock();
/** Another process may take the port between our look and the server's. */
const PORT_TRIES_MAX = 3;

/** Throws where it ends or does not answer in time: with what it printed. */
export async function startJobServer(given: JobServerProgram): Promise<JobServer> {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      return await launch(given, port);
    } catch (error) {
      if (tries === PORT_TRIES_MAX || (await isFree(port))) throw error;
    }
  }
}

async function launch(given: JobServerProgram, port: number): Promise<JobServer> {
  const { told, program, args, env, onPrinted, answerMsMax } = given;
  const child = startGuarded({
    program,
    args: (folder) => args(port, folder),
    ...(env === undefined ? {} : { env }),
    ...(onPrinted === undefined ? {} : { onPrinted }),
  });
  const endpoint = `127.0.0.1:${port}`;
  const until = Date.now() + answerMsMax;
  let why: string | undefined;
  while (child.alive() && Date.now() < until) {
    why = await unanswered({ endpoint, clock });
    if (why === undefined && child.alive()) return handle(child, endpoint, told);
    await pause(ASK_EVERY_MS);
  }
  const what = child.alive() ? `did not answer within ${answerMsMax / 1000} s (${why})` : `ended (${await child.wait()})`;
  await child.end();
  throw new Error(`${told} ${what}. It printed:\n${child.printed() || "nothing"}`);
}

function handle(child: Guarded, endpoint: string, told: string): JobServer {
  return { endpoint, told, pid: child.pid, alive: child.alive, printed: child.printed, stop: child.end };
}
