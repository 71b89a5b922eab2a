// How is a folder or file of the cache made once, whoever asks first? By the process that makes the folder of the work; others wait, none sees half.
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, utimes } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startGuarded } from "../emulators/guarded.ts";

export interface Making {
  /** Where the result is to be. */
  path: string;
  /** For people: what is made. */
  told: string;
  program: string;
  /** Of the program that leaves the result at `result`, a path inside `folder`, which goes afterwards. */
  args: (result: string, folder: string) => readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Given lines of progress. */
  tell?: (line: string) => void;
}

/** The largest, Beam for Python with all that it needs, took some minutes on two busy cores. A test file may take ten. */
const MAKE_MS_MAX = 9 * 60_000;
const LOOK_EVERY_MS = 200;
/** Who works touches its folder so often; one that is silent so long was killed with its guard, as a container is. */
const TOUCH_EVERY_MS = 1_000;
const SILENT_MS_MAX = 60_000;
const TOLD_LINES_MAX = 8;

/** Resolves when the result stands. Throws with the program's last words where it cannot be made. */
export async function once(making: Making): Promise<void> {
  const { path, told, tell = () => {} } = making;
  if (existsSync(path)) return;
  const folder = `${path}.making`;
  mkdirSync(dirname(path), { recursive: true });
  let mine = taken(folder);
  if (!mine) tell(`waiting for ${told}, which another process makes`);
  while (!mine && !existsSync(path)) {
    await pause(LOOK_EVERY_MS);
    mine = taken(folder);
  }
  // The other one may have ended since the look before.
  if (mine && existsSync(path)) rmdirSync(folder);
  else if (mine) await make(making, folder);
}

async function make({ path, told, program, args, env, tell = () => {} }: Making, folder: string): Promise<void> {
  tell(`making ${told} (once; it may take minutes)`);
  const result = join(folder, "result");
  // The guard's own folder is another: ours must outlive the program, by the one rename.
  const child = startGuarded({ program, args: () => args(result, folder), ...(env && { env: () => env }), onPrinted: tell });
  const late = setTimeout(child.end, MAKE_MS_MAX);
  const touching = setInterval(() => utimes(folder, new Date(), new Date(), () => {}), TOUCH_EVERY_MS);
  try {
    const code = await child.wait();
    if (code !== 0 || !existsSync(result)) throw new Error(failure(told, code, child.printed()));
    renameSync(result, path);
  } finally {
    clearTimeout(late);
    clearInterval(touching);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether the folder was made now, by us. What a dead process left is removed. */
function taken(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const touchedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - touchedAt > SILENT_MS_MAX) rmSync(folder, { recursive: true, force: true });
  return false;
}

function failure(told: string, code: number | string, printed: string): string {
  const why = typeof code === "string" ? `ended by ${code}, ${MAKE_MS_MAX / 60_000} minutes at most` : `exit code ${code}`;
  return `cannot make ${told}: ${why}: ${printed.split("\n").slice(-TOLD_LINES_MAX).join("\n")}`;
}
