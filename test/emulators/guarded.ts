// How does a program that a test started die with the test, whatever ends it? A shell beside the program waits for its end of a pipe to close.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface GuardedProgram {
  program: string;
  /** Given the folder that is removed with the program. */
  args: (folder: string) => readonly string[];
  env?: (folder: string) => Readonly<Record<string, string>>;
  cwd?: string;
  /** A folder to be its own; default is a new one among the system's temporary files. */
  folder?: string;
  /** Called with each piece that it prints. */
  onPrinted?: (text: string) => void;
}

export interface Guarded {
  pid: number;
  /** Its last lines, standard output and error together. */
  printed: () => string;
  /** Until it has ended and its folder is gone. */
  alive: () => boolean;
  /** Resolves when it has ended by itself or was ended, and its folder is gone: exit code, or the signal's name. */
  wait: () => Promise<number | string>;
  /** Ends it at once (SIGKILL) and waits for that; again does nothing. */
  end: () => Promise<void>;
}

/** Kept of what a program prints. */
const PRINTED_CHARS_MAX = 8_000;

/**
 * $0 is the folder, "$@" the program. The subshell is in the group that the program leads, so that neither the program's number nor
 * its group's can have gone to another when the pipe closes; the system closes it too when SIGKILL ends us. Its last act ends the
 * group, and so itself.
 */
const SCRIPT = `
exec 3<&0
(trap '' TERM; read -r _ <&3; kill -TERM -$$; kill -KILL $$; rm -rf -- "$0"; kill -KILL -$$) 2>/dev/null &
exec 3<&-
exec "$@" </dev/null`;

/** Starts a program. It does not keep this process from ending, unless waited for. */
export function startGuarded(given: GuardedProgram): Guarded {
  const folder = given.folder ?? mkdtempSync(join(tmpdir(), "gleaner-emulator-"));
  const child = spawn("/bin/sh", ["-c", SCRIPT, folder, given.program, ...given.args(folder)], {
    // A group of its own: Ctrl-C is for us, and we end it.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder, ...given.env?.(folder) },
    ...(given.cwd === undefined ? {} : { cwd: given.cwd }),
  });
  let ending: number | string | undefined;
  const ended = new Promise<number | string>((resolve) => {
    // Without a shell there is no pid, and no "close".
    child.once("error", (error) => resolve(String(error)));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "nothing"));
  });
  ended.then((how) => {
    ending = how;
  });
  // The pipe may be gone before we close it.
  child.stdin.on("error", () => {});
  hold(child, false);
  const wait = () => {
    hold(child, true);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    printed: keepPrinted(child, given.onPrinted),
    alive: () => ending === undefined,
    wait,
    end: async () => {
      child.stdin.destroy();
      await wait();
    },
  };
}

function keepPrinted(child: ChildProcess, onPrinted: (text: string) => void = () => {}): () => string {
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-PRINTED_CHARS_MAX);
      onPrinted(text);
    });
  return () => printed.trim();
}

/** Whether a child and its pipes keep this process from ending. */
function hold(child: ChildProcess, held: boolean): void {
  const pipes = [child.stdin, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[];
  for (const thing of [child, ...pipes]) held ? thing.ref() : thing.unref();
}
