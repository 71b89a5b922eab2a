// How does a test give a process a machine at its limits, a full disk, few file handles, and leave nothing behind on this one?
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { realFiles } from "../../io/objects/file-layer.ts";

const CHILD_MS_MAX = 60_000; // one that hangs is ended, and its test fails

export interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a shell script; $1 and so on are the arguments. */
export function shell(script: string, args: readonly string[]): Promise<Said> {
  return run("sh", ["-c", script, "sh", ...args]);
}

/** Runs the script where $1, a folder that stands, is a disk of its own of that size. The mount is gone with the script. */
export function onSmallDisk(kib: number, script: string, args: readonly [folder: string, ...string[]]): Promise<Said> {
  const mounted = `mount -t tmpfs -o size=${kib}k small "$1" || exit 99; ${script}`;
  return run("unshare", ["-rm", "sh", "-c", mounted, "sh", ...args]);
}

/** Why small disks cannot be made here; false where they can. */
export async function noSmallDisks(folder: string): Promise<string | false> {
  const { code } = await onSmallDisk(64, "true", [folder]);
  return code !== 0 && "this system lets nobody mount a small disk (unshare -rm)";
}

async function run(command: string, args: readonly string[]): Promise<Said> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // the child is none of its tests
  const child = spawn(command, args, { env, detached: true }); // a group of its own, so that all of it can be ended
  const end = (): void => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const timer = setTimeout(end, CHILD_MS_MAX);
  const exited = new Promise<number | null>((resolve) => {
    child.once("close", (code) => resolve(code)).once("error", () => resolve(null));
  });
  const [stdout = "", stderr = ""] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray().catch(() => [])).toString()),
  );
  const code = await exited;
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** The files below a folder, as the walks over output files take them. */
export function filesBelow(folder: string): { paths(): string[]; read: typeof realFiles.read } {
  return { paths: () => globSync("**/*.*", { cwd: folder }).map((path) => join(folder, path)), read: realFiles.read };
}
