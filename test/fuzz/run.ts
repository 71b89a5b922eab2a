// npm run fuzz -- [--seconds N] [--parser NAME]...: each parser for N seconds in a thread of its own, ended if it hangs.
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { HANG_MS } from "./fuzz.ts";
import { parsers } from "./registry.ts";

const SECONDS = 10;
const WATCH_MS = 1000;
/** An input that takes HANG_MS has failed; one that takes this has not come back. */
const STUCK_MS = 2 * HANG_MS;

interface Task {
  name: string;
  seed: number;
  ms: number;
  path?: string;
  /** The index of the input that is tried; what a thread that hangs can still tell. */
  index: Int32Array;
}

if (isMainThread) await main();
else await work(workerData as Task);

async function main(): Promise<void> {
  const { values, fault } = options();
  if (fault !== undefined) return end(2, fault);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const ms = Number(values.seconds ?? SECONDS) * 1000;
  if (!(ms > 0) || !Number.isInteger(seed)) return end(2, "--seconds takes a positive number, --seed a whole one");
  const names = values.parser ?? parsers.map(({ name }) => name);
  const unknown = names.find((name) => parsers.every((parser) => parser.name !== name));
  if (unknown !== undefined)
    return end(2, `no parser ${unknown}; there are\n  ${parsers.map(({ name }) => name).join("\n  ")}`);
  let failed = 0;
  for (const name of names) {
    const index = new Int32Array(new SharedArrayBuffer(4));
    const fate = await run({ name, seed, ms, index, ...(values.path !== undefined && { path: values.path }) });
    if (!fate.ok) failed++;
    console.log(`${fate.ok ? "ok  " : "FAIL"} ${name}: ${fate.text}`);
  }
  console.log(`${names.length} parsers, ${failed} failed; seed ${seed}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function options() {
  const known = {
    seconds: { type: "string" },
    parser: { type: "string", multiple: true },
    seed: { type: "string" },
    path: { type: "string" },
  } as const;
  try {
    return { values: parseArgs({ options: known }).values };
  } catch (error) {
    return { values: {}, fault: (error as Error).message };
  }
}

type Fate = { ok: boolean; text: string };

function run(task: Task): Promise<Fate> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task });
  const fate = new Promise<Fate>((resolve) => {
    let last = -1;
    let stuckMs = 0;
    const watch = setInterval(() => {
      stuckMs = task.index[0] === last ? stuckMs + WATCH_MS : 0;
      last = task.index[0]!;
      if (stuckMs < STUCK_MS) return;
      resolve({ ok: false, text: `hangs; it replays with --parser ${task.name} --seed ${task.seed} --path ${last}` });
    }, WATCH_MS);
    worker.once("message", resolve);
    worker.once("error", (error) => resolve({ ok: false, text: String(error) }));
    worker.once("exit", () => clearInterval(watch));
  });
  return fate.finally(() => worker.terminate());
}

async function work({ name, seed, ms, path, index }: Task): Promise<void> {
  const onInput = (at: number) => {
    index[0] = at;
  };
  const parser = parsers.find((one) => one.name === name)!;
  const fate: Fate = await parser.run({ seed, ms, onInput, ...(path !== undefined && { path }) }).then(
    (count) => ({ ok: true, text: `${count.toLocaleString("en")} inputs in ${ms / 1000} s` }),
    (error: Error) => ({ ok: false, text: `${error.message}\n${error.cause ?? ""}` }),
  );
  parentPort!.postMessage(fate);
}

function end(exitCode: number, text: string): void {
  console.error(text);
  process.exitCode = exitCode;
}
