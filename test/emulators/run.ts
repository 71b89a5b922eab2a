// Which emulators run while a person tries things, and where? `npm run emulators`: starts them, prints what to export, ends them at Ctrl-C.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { EMULATOR_NAMES, type EmulatorName, type Located, locate, type Wanted } from "./locate.ts";
import type { Emulators } from "./start.ts";

const USAGE = `npm run emulators -- [pubsub] [bigtable] [storage] [options]

Starts emulators of Google's services on 127.0.0.1, all three where none is named, prints the variables to export, and runs until
Ctrl-C. What Go must build is built once, into node_modules/.cache/gleaner/emulators. They keep their data in memory.

  --pubsub-port N, --bigtable-port N, --storage-port N   instead of any that is free
  --check   says what would be used, starts and builds nothing; exit code 1 where something is missing
  --build   builds what must be built and starts nothing; exit code 1 where it cannot
  --help    this text`;

interface Asked {
  wanted: Wanted;
  ports: Partial<Record<EmulatorName, number>>;
  check: boolean;
  build: boolean;
  help: boolean;
}

/** Whether they still run. */
const LOOK_EVERY_MS = 500;

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** As a shell tells of a program that SIGINT ended. */
const EXIT_INTERRUPTED = 130;

process.exitCode = await run();

async function run(): Promise<number> {
  const asked = read(process.argv.slice(2));
  if (typeof asked === "string") {
    console.error(`${asked}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (asked.help) {
    console.log(USAGE);
    return 0;
  }
  if (asked.check) return check(asked);
  return asked.build ? build(asked) : serve(asked);
}

/** Or what is wrong with the arguments. */
function read(given: readonly string[]): Asked | string {
  const port = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { "pubsub-port": port, "bigtable-port": port, "storage-port": port, check: flag, build: flag, help: flag };
  try {
    const { values, positionals } = parseArgs({ args: [...given], allowPositionals: true, options });
    const unknown = positionals.find((name) => !EMULATOR_NAMES.some((known) => known === name));
    if (unknown !== undefined) return `there is no emulator of ${unknown}: ${EMULATOR_NAMES.join(", ")}`;
    const ports: Asked["ports"] = {};
    for (const name of EMULATOR_NAMES) {
      const text = values[`${name}-port`];
      if (text === undefined) continue;
      if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
        return `--${name}-port ${text}: a port is a number from 1 to 65535`;
      ports[name] = Number(text);
    }
    const names = EMULATOR_NAMES.filter((name) => positionals.length === 0 || positionals.includes(name));
    const wanted = Object.fromEntries(names.map((name) => [name, true])) as Wanted;
    return { wanted, ports, check: values.check, build: values.build, help: values.help };
  } catch (error) {
    return (error as Error).message;
  }
}

async function build({ wanted }: Asked): Promise<number> {
  try {
    const { prepare } = await import("./start.ts");
    for (const { name, told } of await prepare(wanted, { tell: console.error })) console.log(`ready    ${name}: ${told}`);
    return 0;
  } catch (error) {
    console.error((error as Error).message);
    return EXIT_FAILED;
  }
}

function check({ wanted }: Asked): number {
  const located = EMULATOR_NAMES.filter((name) => wanted[name]).map((name) => locate(name));
  for (const one of located) console.log(line(one));
  return located.some(({ kind }) => kind === "missing") ? EXIT_FAILED : 0;
}

function line(located: Located): string {
  if (located.kind === "missing") return `missing  ${located.why}`;
  const { name, told, build } = located.source;
  return build === undefined ? `ready    ${name}: ${told}` : `to build ${name}: ${told}, by ${build.go}`;
}

async function serve({ wanted, ports }: Asked): Promise<number> {
  const interrupted = new Promise<"interrupted">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve("interrupted"));
  });
  try {
    // Not above: it loads gRPC, which what ends at once does without.
    const { startEmulators } = await import("./start.ts");
    const emulators = await Promise.race([startEmulators(wanted, { ports, tell: console.error }), interrupted]);
    // What was starting or being built ends with this process.
    if (emulators === "interrupted") process.exit(EXIT_INTERRUPTED);
    tell(emulators);
    let ended: EmulatorName | undefined;
    while (ended === undefined && (await Promise.race([interrupted, pause(LOOK_EVERY_MS)])) !== "interrupted")
      ended = emulators.names.find((name) => !emulators.alive(name));
    await emulators.stop();
    if (ended === undefined) return 0;
    console.error(`the emulator of ${ended} ended by itself. It printed:\n${emulators.printed(ended) || "nothing"}`);
  } catch (error) {
    console.error((error as Error).message);
  }
  return EXIT_FAILED;
}

function tell(emulators: Emulators): void {
  for (const name of emulators.names) console.log(`# ${name}: ${emulators.told(name)}`);
  for (const [variable, value] of Object.entries(emulators.env)) console.log(`export ${variable}=${value}`);
  console.log("# Ctrl-C ends them");
}
