// How are files of documents rewritten so that a try that broke off anywhere is taken up? What is written has its name by what it was made of.
import { createHash } from "node:crypto";
import { partitionFolder } from "../../../core/partitions/partition-files.ts";
import type { DayFiles, WrittenFile } from "../../../ports/day-files.ts";
import { list, struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";

/** What is kept of a file: its lines but the superfluous ones, whose numbers rise. */
export const fileToKeep = struct({ path: text, count: uint, superfluous: list(uint) });
export type FileToKeep = TypeOf<typeof fileToKeep>;

/** In its own place; untouched where it has no superfluous line. */
export async function withoutLines(files: DayFiles, file: FileToKeep): Promise<WrittenFile> {
  const { path, count, superfluous } = file;
  const standing = await files.measure(path);
  if (standing === undefined) throw hasGone(path);
  // A bundle that failed behind the rewriting is tried again: the lines have gone then.
  if (superfluous.length === 0 || standing.rows === count - superfluous.length) return standing;
  if (standing.rows !== count)
    throw new Error(`${path} had ${count} lines and has ${standing.rows}: who writes to a day that is over?`);
  return files.writeLines(path, kept(files, file));
}

/**
 * One after the other in a file of their own; they go then. Cut off between the two, each document stands twice, and the next closing of the
 * day finds it superfluous.
 */
export async function joined(files: DayFiles, day: string, parts: readonly FileToKeep[]): Promise<WrittenFile> {
  const path = `${partitionFolder("documents", day)}/part-joined-${digestOf(parts)}.ndjson.gz`;
  const written = (await files.measure(path)) ?? (await files.writeLines(path, allKept(files, parts)));
  for (const part of parts) await files.remove(part.path);
  return written;
}

const NAME_DIGITS = 24; // 96 bits: no two are alike by chance

function digestOf(parts: readonly FileToKeep[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, NAME_DIGITS);
}

async function* allKept(files: DayFiles, parts: readonly FileToKeep[]): AsyncGenerator<string> {
  for (const part of parts) yield* kept(files, part);
}

/** Rejects where the file has other lines than it had. */
async function* kept(files: DayFiles, { path, count, superfluous }: FileToKeep): AsyncGenerator<string> {
  let at = 0;
  let next = 0;
  for await (const lines of files.lines(path))
    for (const line of lines)
      if (superfluous[next] === at++) next++;
      else yield line;
  if (at !== count) throw new Error(`${path} had ${count} lines and has ${at}: who writes to a day that is over?`);
}

function hasGone(path: string): Error {
  return new Error(`${path} has gone while its day was closed`);
}
