// How does a partition have each version of a document once, though documents come at least once? Places meet by URL; bodies stay where they are.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition } from "../../../beam/dofn.ts";
import { nameIn } from "../../../core/partitions/partition-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { struct, type TypeOf, text, uint, union } from "../../../schemas/codec.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { DailyServices } from "../services.ts";
import { type ChosenFile, chosenFile, partitionParts } from "./choose-files.ts";

/** Where a version of a document stands: a line of a file, counted from 0. */
const documentPlace = struct({ path: text, line: uint, docVersion: uint });
type DocumentPlace = TypeOf<typeof documentPlace>;

/** Of one file: how many lines it has, and those that another place has as well. */
const fileFact = union({ lines: struct({ count: uint }), superfluous: struct({ line: uint }) });
type FileFact = TypeOf<typeof fileFact>;

const ofDocuments = { places: keyed(documentPlace), facts: keyed(fileFact) };

/** Of files of documents; others pass by. */
export const readPlaces: DoFnDefinition<ChosenFile, typeof ofDocuments, Record<never, never>, Pick<DailyServices, "files">> = {
  form: "each",
  name: "dailyReadDocumentPlaces",
  input: chosenFile,
  outputs: ofDocuments,
  make: (_, { files }) => {
    const turn = fewAtOnce();
    return {
      process: ({ family, path }, context) =>
        turn(async () => {
          if (family !== "documents") return;
          let line = 0;
          for await (const lines of files.lines(path))
            for (const each of lines) {
              const { urlId, docVersion } = JSON.parse(each) as { urlId: string; docVersion: number };
              context.emit("places", { key: urlId, value: { path, line, docVersion } });
              line++;
            }
          context.emit("facts", { key: path, value: { kind: "lines", count: line } });
        }),
    };
  },
};

/** Under the URL's id: of each version the first place counts. */
export const findSuperfluous: GroupedDefinition<
  DocumentPlace,
  { facts: typeof ofDocuments.facts },
  Record<never, never>,
  unknown
> = {
  form: "grouped",
  name: "dailyFindSuperfluous",
  input: documentPlace,
  outputs: { facts: keyed(fileFact) },
  make: () => ({
    async process(_urlId, values, context) {
      const first = new Map<number, DocumentPlace>();
      const drop = ({ path, line }: DocumentPlace) =>
        context.emit("facts", { key: path, value: { kind: "superfluous", line } });
      for await (const place of values) {
        const known = first.get(place.docVersion);
        if (known === undefined || isBefore(place, known)) first.set(place.docVersion, place);
        if (known !== undefined) drop(isBefore(place, known) ? known : place);
      }
    },
  }),
};

function isBefore(one: DocumentPlace, other: DocumentPlace): boolean {
  return one.path === other.path ? one.line < other.line : one.path < other.path;
}

/** Under the file's path. Its superfluous lines go, if any; it is not seen half written. */
export const closeDocuments: GroupedDefinition<
  FileFact,
  { parts: typeof partitionParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "grouped",
  name: "dailyCloseDocuments",
  input: fileFact,
  outputs: { parts: partitionParts },
  make: ({ day }, { files }) => ({
    async process(path, values, context) {
      let count = 0;
      const superfluous = new Set<number>();
      for await (const value of values)
        if (value.kind === "lines") count = value.count;
        else superfluous.add(value.line);
      const file = await withoutLines(files, path, { count, superfluous });
      context.emit("parts", { key: "documents", value: { ...file, name: nameIn("documents", day, path) } });
    },
  }),
};

async function withoutLines(
  files: DayFiles,
  path: string,
  { count, superfluous }: { count: number; superfluous: ReadonlySet<number> },
) {
  const standing = await files.measure(path);
  if (standing === undefined) throw new Error(`${path} has gone while its day was closed`);
  // A bundle that failed behind the rewriting is tried again: the lines have gone then.
  if (superfluous.size === 0 || standing.rows === count - superfluous.size) return standing;
  if (standing.rows !== count)
    throw new Error(`${path} had ${count} lines and has ${standing.rows}: who writes to a day that is over?`);
  return files.writeLines(path, kept(files, path, superfluous));
}

async function* kept(files: DayFiles, path: string, superfluous: ReadonlySet<number>): AsyncGenerator<string> {
  let at = 0;
  for await (const lines of files.lines(path)) for (const line of lines) if (!superfluous.has(at++)) yield line;
}
