// How is an emulator built by Go, once? By whoever makes the build's folder; the others wait, and none sees half a program.
import { existsSync, mkdirSync, rmdirSync, rmSync, statSync, utimes } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startGuarded } from "./guarded.ts";
import type { Build, Source } from "./locate.ts";

/** The largest took three minutes on two busy cores, download and all. A test file may take ten. */
const BUILD_MS_MAX = 9 * 60_000;
const LOOK_EVERY_MS = 200;

/** Who builds touches its folder so often; one that is silent so long was killed with its guard, as a container is. */
const TOUCH_EVERY_MS = 1_000;
const SILENT_MS_MAX = 60_000;

/** Of what a failed build printed, these lines are told. */
const TOLD_LINES_MAX = 5;

/** $1 is where the program goes; the rest is the command that leaves it, alone, in $GOBIN. */
const SCRIPT = `program=$1; shift; "$@" && mv "$GOBIN"/* "$program"`;

/**
 * The source, with its program in place and nothing left to build. `tell` is given lines of progress. Throws with Go's last words
 * where it cannot be built.
 */
export async function built(source: Source, tell: (line: string) => void = () => {}): Promise<Source> {
  const { build, program, ...rest } = source;
  if (build === undefined) return source;
  // It goes when the build ends, however that ends.
  const folder = `${program}.building`;
  mkdirSync(dirname(program), { recursive: true });
  let mine = taken(folder);
  if (!mine) tell(`waiting for ${source.told}, which another process builds`);
  while (!mine && !existsSync(program)) {
    await pause(LOOK_EVERY_MS);
    mine = taken(folder);
  }
  // The other one may have ended since the look before.
  if (mine && existsSync(program)) rmdirSync(folder);
  else if (mine) await run({ ...source, build }, folder, tell);
  return { ...rest, program };
}

async function run(source: Source & { build: Build }, folder: string, tell: (line: string) => void): Promise<void> {
  const { build, program, told } = source;
  tell(`building ${told} (once; it may take minutes)`);
  const child = startGuarded({
    program: "/bin/sh",
    args: () => ["-c", SCRIPT, "sh", program, build.go, ...goArgs(build, join(folder, "bin"))],
    env: () => ({ GOBIN: join(folder, "bin"), GOTMPDIR: "", GOWORK: "off" }),
    folder,
    ...(build.folder === undefined ? {} : { cwd: build.folder }),
    onPrinted: (text) => tell(text.trimEnd()),
  });
  const late = setTimeout(child.end, BUILD_MS_MAX);
  const touching = setInterval(() => utimes(folder, new Date(), new Date(), () => {}), TOUCH_EVERY_MS);
  const code = await child.wait();
  clearTimeout(late);
  clearInterval(touching);
  if (code !== 0) throw new Error(failure(told, code, child.printed()));
}

/** Whether the folder was made now, by us. What a dead build left is removed. */
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

function goArgs({ install, folder }: Build, bin: string): string[] {
  if (install !== undefined) return ["install", "-trimpath", install];
  return folder === undefined ? [] : ["build", "-trimpath", "-o", `${bin}/`, "."];
}

function failure(told: string, code: number | string, printed: string): string {
  const why = typeof code === "string" ? `ended by ${code}, ${BUILD_MS_MAX / 60_000} minutes at most` : `exit code ${code}`;
  const last = printed.split("\n").slice(-TOLD_LINES_MAX).join("\n");
  return `cannot build ${told}: ${why}: ${last}`;
}
