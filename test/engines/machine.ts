// Where are the tools that engines are made with, and where are engines kept? Programs of PATH, and a cache beside the emulators'.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { thisMachine } from "../emulators/locate.ts";

export const ENGINES_CACHE = join(import.meta.dirname, "../../node_modules/.cache/gleaner/engines");

/** The whole path of a program of PATH; undefined where there is none. */
export function onPath(name: string, path: readonly string[] = thisMachine().path): string | undefined {
  return path.map((folder) => join(folder, name)).find(isProgram);
}

/** The same, or an error that says what wants it. */
export function needed(name: string, wantedFor: string): string {
  const program = onPath(name);
  if (program === undefined) throw new Error(`no ${name} on this machine, which ${wantedFor} needs`);
  return program;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
