// Where do the bytes of an object wait until all of them are known? In a temporary file without a name.
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

/**
 * `work` is given an empty file that is gone when it ends; it has no name from the start, so that it is gone also where the process is
 * killed.
 */
export async function withSpool<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "gleaner-spool-"));
  const file = await open(join(folder, "file"), "wx+").finally(() => rm(folder, { recursive: true, force: true }));
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

const PIECE_BYTES = 256 * 1024;

/** From the first byte on, as often as asked for. Node's own stream of a file would close the file when it breaks. */
export function bytesIn(file: FileHandle): Readable {
  return Readable.from(piecesIn(file), { objectMode: false });
}

async function* piecesIn(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(PIECE_BYTES), position });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
