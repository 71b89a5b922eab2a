// A small file that is read and replaced as a whole: how is it never seen half written, and no change of two lost?
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../ports/versioned-table.ts";
import { systemTrouble } from "./stores/sqlite-faults.ts";

export interface ReplacedFile {
  readonly path: string;
  /** Its text; undefined where there is none. Rejects with StoreError. */
  read(): Promise<string | undefined>;
  /** Its text, where that may have changed since the last such call; the first finds what there is. Rejects with StoreError. */
  changed(): Promise<{ text: string | undefined } | undefined>;
  /** Durable when it resolves. One process at a time: another waits, and rejects with StoreError after a while. */
  change(make: (text: string | undefined) => string): Promise<void>;
}

const LOCK_TRIES = 50;
const LOCK_WAIT_MS = 100; // five seconds in all: a change takes milliseconds

export function replacedFile(path: string): ReplacedFile {
  let seen: string | undefined | null = null;
  return {
    path,
    read: () => told(path, () => textOf(path)),
    changed: () =>
      told(path, async () => {
        const now = await signature(path);
        if (now === seen) return undefined;
        const text = await textOf(path);
        seen = now;
        return { text };
      }),
    change: (make) =>
      told(path, async () => {
        const lock = `${path}.lock`;
        await locked(lock);
        try {
          await replace(path, make(await textOf(path)));
        } finally {
          await rm(lock, { force: true });
        }
      }),
  };
}

/** What a new file has another of: a rename gives a new inode. */
async function signature(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function replace(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, "w");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function locked(lock: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await (await open(lock, "wx")).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (tries >= LOCK_TRIES)
        throw new StoreError(`${lock} stands: another command changes the file, or one died; remove it if none runs`);
      await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
    }
  }
}

async function told<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw systemTrouble(cause, path) ?? cause;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
